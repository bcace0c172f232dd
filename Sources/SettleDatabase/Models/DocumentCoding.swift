public import SettleCore
internal import SettlePlatform

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Converts the values of a model to members of a document, and back.
///
/// Documents are read by peers that do not use Swift: a CouchDB, a browser, another app. So values of Foundation
/// have forms that all of them can read:
///
/// | Swift | Stored | Also read |
/// |---|---|---|
/// | `Date` | `"2026-11-23T14:05:09.250Z"`: ISO 8601 in UTC with milliseconds, as `JSONValue.stringify` | with any fraction and offset; a date alone, which is midnight in UTC; a number, as seconds since 2001 |
/// | `Data` | Base64 text | a list of bytes |
/// | `URL` | text | an object with `relative` and `base` |
/// | `Decimal` | a number with all its digits | text; an object with `mantissa` and `exponent` |
///
/// Values in the column *Also read* were stored by earlier versions, or by `JSONEncoder`. The text of dates sorts
/// by time, so that indexes and conditions work; for that, a date is rounded to milliseconds.
///
/// If a model must use other forms, to work with other software, it defines its coding once:
///
///     struct Reading: DocumentModel {
///         var at: Date
///         static let coding = DocumentCoding(dates: .millisecondsSince1970)
///     }
public struct DocumentCoding: Sendable {
    /// The form of a `Date`.
    public enum DateStrategy: Sendable {
        /// ISO 8601 in UTC with milliseconds. Years from 0 to 9999.
        case iso8601
        /// A number of seconds since 1970, as `Date.timeIntervalSince1970`; text of ISO 8601 is read, too.
        case secondsSince1970
        /// A whole number of milliseconds since 1970, as JavaScript's `Date.now()`; text of ISO 8601 is read, too.
        case millisecondsSince1970
        /// The results of two functions. Their errors are passed on.
        case custom(encode: @Sendable (Date) throws -> JSONValue, decode: @Sendable (JSONValue) throws -> Date)
    }

    /// The form of `Data`.
    public enum DataStrategy: Sendable {
        /// Base64 text.
        case base64
        /// The results of two functions. Their errors are passed on.
        case custom(encode: @Sendable (Data) throws -> JSONValue, decode: @Sendable (JSONValue) throws -> Data)
    }

    /// The form of dates.
    public var dates: DateStrategy
    /// The form of bytes.
    public var data: DataStrategy
    /// The `userInfo` of the encoder and the decoder.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    /// Creates a coding; each strategy is that of ``standard`` by default.
    public init(
        dates: DateStrategy = .iso8601, data: DataStrategy = .base64, userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) {
        self.dates = dates
        self.data = data
        self.userInfo = userInfo
    }

    /// Dates as ISO 8601, bytes as Base64, an empty `userInfo`.
    public static let standard = DocumentCoding()

    /// The coding of a model: its own if it has one, else ``standard``.
    package static func of(_ type: Any.Type) -> DocumentCoding {
        (type as? any DocumentModel.Type)?.coding ?? .standard
    }
}
