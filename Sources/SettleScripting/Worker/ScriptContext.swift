internal import CScriptPrelude

#if canImport(JavaScriptCore)
internal import JavaScriptCore
#else
internal import CJavaScriptCore
#endif

/// An isolated JavaScript context: the functions of one design document, or of its views.
///
/// Used only by the worker's single thread.
final class ScriptContext {
    private let context: JSGlobalContextRef
    private var functions: [String: JSObjectRef] = [:]
    private var api: JSObjectRef?

    /// Creates a context in a group, with which it shares memory.
    ///
    /// - Returns: `nil` if the prelude fails, which means that memory is exhausted.
    init?(in group: JSContextGroupRef, log: @escaping (String) -> Void) {
        ScriptLog.taker = log
        guard let context = JSGlobalContextCreateInGroup(group, nil) else { return nil }
        self.context = context
        guard let make = Self.evaluatePrelude(in: context) else { return nil }
        let write = Self.function("log", in: context) { context, _, _, count, arguments, _ in
            if count > 0, let message = arguments?[0] { ScriptLog.taker(ScriptContext.text(message, in: context)) }
            return context.map { JSValueMakeUndefined($0) } ?? nil
        }
        let probe = Self.function("mistakenLine", in: context) { context, _, _, count, arguments, _ in
            guard let context, count > 0, let source = arguments?[0] else { return nil }
            return JSValueMakeNumber(context, ScriptContext.mistakenLine(of: source, in: context))
        }
        let evaluateModule = Self.function("evaluateModule", in: context) { context, _, _, count, arguments, error in
            guard let context, count > 0, let source = arguments?[0] else { return nil }
            return ScriptContext.evaluateModule(source, in: context, error)
        }
        let arguments: [JSValueRef?] = [write, probe, evaluateModule]
        guard let api = JSObjectCallAsFunction(context, make, nil, 3, arguments, nil) else { return nil }
        JSValueProtect(context, api)
        self.api = api
    }

    deinit { JSGlobalContextRelease(context) }

    /// Calls a function of the prelude with zero-terminated strings.
    ///
    /// - Parameters:
    ///   - name: The function.
    ///   - arguments: The addresses of the strings.
    ///   - take: Called with the result's UTF-8, including its leading mark.
    /// - Returns: Whether there was a result; `false` if memory is exhausted.
    func call(_ name: String, _ arguments: [UnsafePointer<CChar>], _ take: (UnsafeBufferPointer<UInt8>) -> Void) -> Bool
    {
        guard let function = function(name) else { return false }
        // On the stack, where the garbage collector looks for values in use.
        let answer = withUnsafeTemporaryAllocation(of: JSValueRef?.self, capacity: 4) { values -> JSValueRef? in
            values.initialize(repeating: nil)
            for (index, text) in arguments.prefix(4).enumerated() {
                let string = JSStringCreateWithUTF8CString(text)
                values[index] = JSValueMakeString(context, string)
                JSStringRelease(string)
            }
            return JSObjectCallAsFunction(context, function, api, min(arguments.count, 4), values.baseAddress, nil)
        }
        guard let answer, JSValueIsString(context, answer), let string = JSValueToStringCopy(context, answer, nil)
        else { return false }
        defer { JSStringRelease(string) }
        Self.withUTF8(of: string, take)
        return true
    }

    private func function(_ name: String) -> JSObjectRef? {
        if let known = functions[name] { return known }
        let string = JSStringCreateWithUTF8CString(name)
        defer { JSStringRelease(string) }
        guard let api, let value = JSObjectGetProperty(context, api, string, nil),
            let object = JSValueToObject(context, value, nil)
        else { return nil }
        functions[name] = object
        return object
    }

    /// The line of the first syntax error in a source; 0 for a valid source. Scripts can't get it from the engine,
    /// but the host can.
    private static func mistakenLine(of source: JSValueRef, in context: JSContextRef) -> Double {
        guard let script = JSValueToStringCopy(context, source, nil) else { return 0 }
        defer { JSStringRelease(script) }
        var problem: JSValueRef?
        if JSCheckScriptSyntax(context, script, nil, 1, &problem) { return 0 }
        guard let problem, let error = JSValueToObject(context, problem, nil) else { return 1 }
        let name = JSStringCreateWithUTF8CString("line")
        defer { JSStringRelease(name) }
        let line = JSObjectGetProperty(context, error, name, nil)
        return line.map { JSValueToNumber(context, $0, nil) } ?? 1
    }

    /// Creates a function that the prelude calls and scripts don't see.
    private static func function(
        _ name: String, in context: JSContextRef, _ body: @escaping JSObjectCallAsFunctionCallback
    ) -> JSObjectRef? {
        let name = JSStringCreateWithUTF8CString(name)
        defer { JSStringRelease(name) }
        return JSObjectMakeFunctionWithCallback(context, name, body)
    }

    /// Evaluates a module, with "module" as the source of its errors.
    private static func evaluateModule(
        _ source: JSValueRef, in context: JSContextRef, _ error: UnsafeMutablePointer<JSValueRef?>?
    ) -> JSValueRef? {
        guard let script = JSValueToStringCopy(context, source, nil) else { return nil }
        defer { JSStringRelease(script) }
        let name = JSStringCreateWithUTF8CString("module")
        defer { JSStringRelease(name) }
        return JSEvaluateScript(context, script, nil, name, 1, error)
    }

    private static func evaluatePrelude(in context: JSGlobalContextRef) -> JSObjectRef? {
        let script = JSStringCreateWithUTF8CString(settle_script_prelude())
        defer { JSStringRelease(script) }
        let name = JSStringCreateWithUTF8CString("prelude")
        defer { JSStringRelease(name) }
        return JSEvaluateScript(context, script, nil, name, 1, nil).flatMap { JSValueToObject(context, $0, nil) }
    }

    private static func text(_ value: JSValueRef, in context: JSContextRef?) -> String {
        guard let string = JSValueToStringCopy(context, value, nil) else { return "" }
        defer { JSStringRelease(string) }
        // The string may contain halves of surrogate pairs, which the engine can't write as UTF-8.
        let units = UnsafeBufferPointer(start: JSStringGetCharactersPtr(string), count: JSStringGetLength(string))
        return String(decoding: units, as: UTF16.self)
    }

    private static func withUTF8(of string: JSStringRef, _ take: (UnsafeBufferPointer<UInt8>) -> Void) {
        let room = JSStringGetMaximumUTF8CStringSize(string)
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: room) { buffer in
            let count = JSStringGetUTF8CString(string, buffer.baseAddress, room)
            buffer.withMemoryRebound(to: UInt8.self) { bytes in
                take(UnsafeBufferPointer(rebasing: bytes[..<max(count - 1, 0)]))
            }
        }
    }
}
