import SettleImport
import Testing

@Suite struct ForeignFileErrorTests {
    @Test func `an error prints its message`() {
        #expect("\(ForeignFileError(.damaged, "the file ends early"))" == "the file ends early")
    }
}
