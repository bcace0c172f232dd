import FuzzTargets

#if FUZZ_DOCUMENT
private let target = FuzzTarget.document
#elseif FUZZ_TREE
private let target = FuzzTarget.tree
#elseif FUZZ_IDENTIFIER
private let target = FuzzTarget.identifier
#elseif FUZZ_LEVEL
private let target = FuzzTarget.level
#elseif FUZZ_TERMS
private let target = FuzzTarget.terms
#elseif FUZZ_CLOCKS
private let target = FuzzTarget.clocks
#elseif FUZZ_MOBILE
private let target = FuzzTarget.mobile
#elseif FUZZ_FLEECE
private let target = FuzzTarget.fleece
#else
private let target = FuzzTarget.file
#endif

/// libFuzzer calls this with each input. A violated law ends the process, which libFuzzer reports.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))
    do { try target.run(bytes) } catch { fatalError("\(error)") }
    return 0
}
