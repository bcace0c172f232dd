/// Where the content of a revision is kept, as a number in its node of the revision tree.
public enum BodyToken {
    /// The content is not kept.
    public static let none: UInt64 = 0
    /// The content is the winner's, and stands in the document's own record.
    public static let record: UInt64 = 1
    /// Tokens of contents that are kept apart begin here.
    public static let firstApart: UInt64 = 2
    /// The setting with the token after which new ones start, so that no token is reused.
    static let floorSetting = "content_floor"
}
