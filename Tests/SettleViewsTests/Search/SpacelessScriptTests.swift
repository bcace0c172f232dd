import PostgresTesting
import Settle
import SettleTesting
import Testing

@testable import SettleViews

/// Words of texts in scripts without spaces between words.
struct SpacelessScriptTests {
    private static let texts: [(DocumentID, String)] = [
        ("ja", "東京都に行きました。日本語の検索、コンピューターとｶﾅ"), ("zh", "中文搜索引擎，上海2026年Swift编程"),
        ("th", "สวัสดีชาวโลก ภาษาไทย น้ำ"), ("ko", "서울에서 만나요 한국어"), ("lo", "ສະບາຍດີ ພາສາລາວ"), ("km", "ភាសាខ្មែរ"),
        ("my", "မြန်မာဘာသာ"), ("en", "plain words, Café"), ("ext", "𠮷野家で食べる"),
    ]

    private func database() throws -> Database {
        let database = try Database.plain()
        for (id, text) in Self.texts {
            try database.save(Document(id: id, body: ["t": .string(text)]), onConflict: .fail)
        }
        return database
    }

    private static let searches: [(String, [String])] = [
        ("東京", ["ja"]), ("京都", ["ja"]), ("日本語", ["ja"]), ("検索", ["ja"]), ("本日", []), ("東京 検索", ["ja"]),
        ("東京 OR 上海", ["ja", "zh"]), ("コンピュータ", ["ja"]), ("ピューター", ["ja"]), ("\"日本語の検索\"", ["ja"]),
        ("\"東京 検索\"~12", ["ja"]), ("\"東京 検索\"~2", []), ("搜索", ["zh"]), ("引擎", ["zh"]), ("上海2026", ["zh"]),
        ("swift编程", ["zh"]), ("swift", ["zh"]), ("搜*", ["zh"]), ("ภาษา", ["th"]), ("ภาษาไทย", ["th"]), ("ไทย", ["th"]),
        ("โลก", ["th"]), ("น้ำ", ["th"]), ("นำ", []), ("서울에서", ["ko"]), ("서울*", ["ko"]), ("ພາສາ", ["lo"]),
        ("ខ្មែរ", ["km"]), ("ဘာသာ", ["my"]), ("cafe", ["en"]), ("words", ["en"]), ("野家", ["ext"]), ("𠮷野", ["ext"]),
        ("東京 -日本", []), ("t:東京", ["ja"]),
    ]

    @Test(arguments: searches) func `words inside of such texts are found`(text: String, found: [String]) throws {
        let database = try database()
        for tokenizer in [TextTokenizer.words, .english, .letters, .words(foldsAccents: false, signs: "@_")] {
            if tokenizer == .letters, text.contains("2026") { continue }
            if tokenizer == .words(foldsAccents: false, signs: "@_"), text == "cafe" { continue }
            let index = TextIndex("i", fields: ["t"], tokenizer: tokenizer)
            let ids = try database.search(text, in: index).map(\.id.string).sorted()
            #expect(ids == found, "\(tokenizer.specification)")
        }
    }

    @Test(arguments: ["standard", "classic", "english", "simple", "email"])
    func `the analyzers of design documents find them`(analyzer: String) throws {
        let database = try database()
        let tokenizer = try #require(TextTokenizer(analyzer: analyzer))
        for (text, id) in [("東京", "ja"), ("搜索", "zh"), ("ภาษา", "th")] {
            let index = TextIndex("i", tokenizer: tokenizer)
            #expect(try database.search(text, in: index).map(\.id.string) == [id])
        }
    }

    @Test func `a snippet shows the text as it is`() throws {
        let index = TextIndex("i", fields: ["t"])
        let match = try #require(try database().search("日本語", in: index).first)
        #expect(match.snippets.first?.marked().contains("。[日本語]の検索") == true, "\(match.snippets)")
    }

    @Test func `characters are separated, and joined again as they were`() {
        let separated = SpacelessScripts.separated("ab 東京x น้ำ")
        #expect(separated == "ab \u{2063}東\u{2063}京\u{2063}x \u{2063}น้\u{2063}ำ")
        for (_, text) in Self.texts { #expect(SpacelessScripts.joined(SpacelessScripts.separated(text)) == text) }
        #expect(SpacelessScripts.separated("Café, ľaľo, Ελλάδα") == "Café, ľaľo, Ελλάδα")
    }
}
