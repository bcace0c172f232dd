import Foundation
import Settle
import SettleCore
import SettlePlatform
import Testing

@testable import SettleImport

/// JSON of other products becomes documents as the options say.
struct ForeignJSONTests {
    private func read(
        _ text: String, _ translation: JSONTranslation, _ kind: ForeignDatabase.Kind? = nil
    ) throws -> [String] {
        let reader = RecordReader(kind, translation: translation, pieces(of: Array(text.utf8), 7))
        return try records(of: reader).map { $0.problem ?? String(decoding: $0.bytes, as: UTF8.self) }
    }

    // MARK: MongoDB

    @Test func `an id of MongoDB that is no text is kept in a member on request`() throws {
        let input = """
            {"_id":{"$oid":"5f1a"},"n":{"$numberInt":"1"}}
            {"_id":42,"n":2}
            {"_id":{"a":{"$numberLong":"1"}},"n":3}
            {"_id":"text","n":4}
            {"_id":7,"key":5}
            """
        #expect(
            try read(input, JSONTranslation(keptID: "key")) == [
                #"{"_id":"5f1a","n":1}"#, #"{"_id":"42","n":2,"key":42}"#, #"{"_id":"{\"a\":1}","n":3,"key":{"a":1}}"#,
                #"{"_id":"text","n":4}"#, "it has a member \"key\" already: choose another name",
            ])
    }

    @Test func `large binary values of MongoDB become attachments on request`() throws {
        let (large, small) = ([UInt8](repeating: 7, count: 1024), [UInt8](repeating: 7, count: 1020))
        func binary(_ bytes: [UInt8]) -> String {
            #"{"$binary":{"base64":"\#(Base64.encode(bytes))","subType":"00"}}"#
        }
        let input =
            #"{"_id":{"$oid":"5f"},"_photo":\#(binary(large)),"s":\#(binary(small)),"l":[1,{"x":\#(binary(large))}]}"#
        let database = try Database.inMemory()
        let source = try ForeignDatabase(
            stream: RecordReader(
                nil, translation: JSONTranslation(attachesBinaries: true), pieces(of: Array(input.utf8), 9)))
        let report = try database.importAll(from: source)
        let document = try #require(try database.document("5f"))
        #expect(report.isWhole && report.attachments == 2, "\(report)")
        #expect(Set(document.attachments.map(\.name)) == ["photo", "l/1/x"])
        for attachment in document.attachments { #expect(try database.content(of: attachment) == large) }
        #expect(document["photo"] == "photo" && document["l"] == [1, ["x": "l/1/x"]])
        #expect(document["s"]?.string == Base64.encode(small))
        #expect(try read(input, JSONTranslation()).first?.contains("_attachments") == false)
    }

    // MARK: Firestore

    @Test func `documents of Firestore have the names of their collections on request`() throws {
        let input =
            #"{"__collections__":{"users":{"ada":{"n":1,"__collections__":{"notes":{"n1":{"t":"x"}}}},"bob":{"kind":"own"}}}}"#
        #expect(
            try read(input, JSONTranslation(typeMember: "kind")) == [
                #"{"_id":"users/ada","n":1,"kind":"users"}"#, #"{"_id":"users/ada/notes/n1","t":"x","kind":"notes"}"#,
                "users/bob: it has a member \"kind\" already: choose another name",
            ])
    }

    @Test func `two fields of Firestore that would have the same name are refused with their document`() throws {
        let input = #"{"__collections__":{"c":{"d":{"id":1,"_id":2},"e":{"n":1}}}}"#
        #expect(
            try read(input, JSONTranslation()) == [
                "c/d: two members would be named \"id\", since _ at the beginning is reserved", #"{"_id":"c/e","n":1}"#,
            ])
    }

    // MARK: Realm

    private static let realm = """
        {"Dog":[{"_id":1,"name":"Rex","docs":[1]},{"_id":"b","owner":{"$refId":"Person/1"}},7],"docs":[{"tag":"x","n":1}],
         "Person":[{"_id":1,"age":{"$numberDecimal":"1.50"}}],"None":[]}
        """

    @Test func `objects of Realm become documents of their class and key`() throws {
        #expect(
            try read(Self.realm, JSONTranslation(), .realm) == [
                #"{"_id":"Dog/1","name":"Rex","docs":[1],"type":"Dog"}"#,
                #"{"_id":"Dog/b","owner":{"$refId":"Person/1"},"type":"Dog"}"#,
                "an object of Dog: it is not an object", #"{"tag":"x","n":1,"type":"docs"}"#,
                #"{"_id":"Person/1","age":"1.50","type":"Person"}"#,
            ])
        #expect(
            try read(Self.realm, JSONTranslation(typeMember: "class"), .realm).last?.hasSuffix(#""class":"Person"}"#)
                == true)
        #expect(throws: ForeignFileError.self) { try read(#"{"Dog":[{}],"x":1}"#, JSONTranslation(), .realm) }
        #expect(throws: ForeignFileError.self) { try read(#"[{"_id":1}]"#, JSONTranslation(), .realm) }
    }

    @Test func `an app names the member for the class of objects of Realm that have a type of their own`() throws {
        let made = try MadeDatabase()
        let file = try made.file("realm.json", Array(#"{"Dog":[{"_id":1,"type":"poodle"}]}"#.utf8))
        let database = try Database.inMemory()
        let refused = try database.importAll(from: ForeignDatabase(at: file, kind: .realm))
        #expect(refused.lostRevisions == 1 && refused.notTaken.first?.message.contains("type") == true)
        let report = try database.importAll(from: ForeignDatabase(at: file, kind: .realm, typeAttribute: "class"))
        #expect(report.isWhole)
        #expect(try database.document("Dog/1")?.json == ["type": "poodle", "class": "Dog"])
    }

    @Test func `a key of Realm with another name is taken from its member, below the class`() throws {
        let database = try Database.inMemory()
        let source = try ForeignDatabase(stream: RecordReader(.realm, pieces(of: Array(Self.realm.utf8), 50)))
        #expect(source.kind == .realm)
        let report = try database.importAll(from: source, options: ImportOptions(idAttribute: "tag"))
        #expect(try database.documents().map(\.id.string) == ["Dog/1", "Dog/b", "Person/1", "docs/x"])
        #expect(report.lostRevisions == 1, "\(report)")
        // Without a key the rest of the id is made.
        let other = try Database.inMemory()
        let again = try ForeignDatabase(stream: RecordReader(.realm, pieces(of: Array(Self.realm.utf8), 50)))
        try other.importAll(from: again)
        let made = try #require(try other.documents().last?.id.string)
        #expect(made.hasPrefix("docs/") && made.count == 5 + 32)
    }
}
