/// What is known of the place of texts that begin with another.
enum TextPrefix {
    /// The longest beginning of a prefix behind which all texts with it stand together in the order of collation, up to the
    /// last character of all.
    ///
    /// That holds where no letter changes its place by what follows it. It is so in ASCII, in the syllables and ideographs of
    /// Japanese, Chinese and Korean. In Thai a vowel in front changes places with the consonant behind, in Cyrillic some
    /// letters with an accent are letters of their own, and an accent may stand before another one that was there already.
    static func searchable(_ prefix: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in prefix.unicodeScalars {
            guard isIndependent(scalar) else { break }
            scalars.append(scalar)
        }
        return String(scalars)
    }

    private static func isIndependent(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20..<0x7F, 0x3041...0x3096, 0x30A1...0x30FA, 0x4E00...0x9FFF, 0xAC00...0xD7A3: true
        default: false
        }
    }

    /// The first text, in the order of bytes, behind all that begin with a prefix; `nil` when there is none.
    static func end(of prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            guard last.value < 0x10FFFF else { continue }
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { continue }
            return String(String.UnicodeScalarView(scalars + [scalar]))
        }
        return nil
    }
}
