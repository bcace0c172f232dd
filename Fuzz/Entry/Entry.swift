import FuzzTargets

#if FUZZ_DOCUMENT
private let target = FuzzTarget.document
#elseif FUZZ_TREE
private let target = FuzzTarget.tree
#elseif FUZZ_IDENTIFIER
private let target = FuzzTarget.identifier
#elseif FUZZ_CLOCKS
private let target = FuzzTarget.clocks
#else
private let target = FuzzTarget.file
#endif

/// What libFuzzer calls with each input. A law that was broken ends the process, which is how it learns of it.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))
    do { try target.run(bytes) } catch { fatalError("\(error)") }
    return 0
}
