internal import SettlePlatform

/// The accepted algorithms of signed tokens; `none` is not among them.
enum TokenAlgorithm: String, Sendable, CaseIterable {
    case hs256 = "HS256"
    case hs384 = "HS384"
    case hs512 = "HS512"
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"

    var hash: HashFunction {
        switch self {
        case .hs256, .rs256, .es256: .sha256
        case .hs384, .rs384, .es384: .sha384
        case .hs512, .rs512, .es512: .sha512
        }
    }

    /// The kind of key it takes; `nil` for a shared secret.
    var kind: PublicKey.Kind? {
        switch self {
        case .hs256, .hs384, .hs512: nil
        case .rs256, .rs384, .rs512: .rsa
        case .es256, .es384, .es512: .elliptic
        }
    }

    /// The bits of its key's curve.
    var curveBits: Int? {
        switch self {
        case .es256: 256
        case .es384: 384
        case .es512: 521
        default: nil
        }
    }
}
