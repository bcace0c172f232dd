// The part of JavaScriptCore's C API that a worker calls, with the names and types that Apple documents. On Linux the library is
// loaded when a worker starts. A program that links it spends a third of its start on it, and most runs of the tool have no script.
#ifndef CJAVASCRIPTCORE_H
#define CJAVASCRIPTCORE_H

#include <stdbool.h>
#include <stddef.h>

typedef const struct OpaqueJSContextGroup *JSContextGroupRef;
typedef const struct OpaqueJSContext *JSContextRef;
typedef struct OpaqueJSContext *JSGlobalContextRef;
typedef struct OpaqueJSClass *JSClassRef;
typedef struct OpaqueJSString *JSStringRef;
typedef const struct OpaqueJSValue *JSValueRef;
typedef struct OpaqueJSValue *JSObjectRef;
typedef unsigned short JSChar;
typedef JSValueRef (*JSObjectCallAsFunctionCallback)(
    JSContextRef context, JSObjectRef function, JSObjectRef receiver, size_t count, const JSValueRef arguments[],
    JSValueRef *exception);

/// Each function: its result, name, parameters, and the parameters' names.
#define SETTLE_JAVASCRIPT_FUNCTIONS(F) \
    F(JSContextGroupRef, JSContextGroupCreate, (void), ()) \
    F(void, JSContextGroupRelease, (JSContextGroupRef group), (group)) \
    F(JSGlobalContextRef, JSGlobalContextCreateInGroup, (JSContextGroupRef group, JSClassRef global), (group, global)) \
    F(void, JSGlobalContextRelease, (JSGlobalContextRef context), (context)) \
    F(bool, JSCheckScriptSyntax, \
      (JSContextRef context, JSStringRef script, JSStringRef address, int line, JSValueRef *exception), \
      (context, script, address, line, exception)) \
    F(JSValueRef, JSEvaluateScript, \
      (JSContextRef context, JSStringRef script, JSObjectRef receiver, JSStringRef address, int line, \
       JSValueRef *exception), \
      (context, script, receiver, address, line, exception)) \
    F(JSObjectRef, JSObjectMakeFunctionWithCallback, \
      (JSContextRef context, JSStringRef name, JSObjectCallAsFunctionCallback callback), (context, name, callback)) \
    F(JSValueRef, JSObjectCallAsFunction, \
      (JSContextRef context, JSObjectRef function, JSObjectRef receiver, size_t count, const JSValueRef arguments[], \
       JSValueRef *exception), \
      (context, function, receiver, count, arguments, exception)) \
    F(JSValueRef, JSObjectGetProperty, \
      (JSContextRef context, JSObjectRef object, JSStringRef name, JSValueRef *exception), \
      (context, object, name, exception)) \
    F(JSStringRef, JSStringCreateWithUTF8CString, (const char *text), (text)) \
    F(const JSChar *, JSStringGetCharactersPtr, (JSStringRef string), (string)) \
    F(size_t, JSStringGetLength, (JSStringRef string), (string)) \
    F(size_t, JSStringGetMaximumUTF8CStringSize, (JSStringRef string), (string)) \
    F(size_t, JSStringGetUTF8CString, (JSStringRef string, char *buffer, size_t size), (string, buffer, size)) \
    F(void, JSStringRelease, (JSStringRef string), (string)) \
    F(bool, JSValueIsString, (JSContextRef context, JSValueRef value), (context, value)) \
    F(JSValueRef, JSValueMakeNumber, (JSContextRef context, double number), (context, number)) \
    F(JSValueRef, JSValueMakeString, (JSContextRef context, JSStringRef string), (context, string)) \
    F(JSValueRef, JSValueMakeUndefined, (JSContextRef context), (context)) \
    F(void, JSValueProtect, (JSContextRef context, JSValueRef value), (context, value)) \
    F(double, JSValueToNumber, (JSContextRef context, JSValueRef value, JSValueRef *exception), \
      (context, value, exception)) \
    F(JSObjectRef, JSValueToObject, (JSContextRef context, JSValueRef value, JSValueRef *exception), \
      (context, value, exception)) \
    F(JSStringRef, JSValueToStringCopy, (JSContextRef context, JSValueRef value, JSValueRef *exception), \
      (context, value, exception))

/// The addresses of the functions. `settle_javascript_load` sets them.
struct settle_javascript {
#define SETTLE_MEMBER(result, name, parameters, arguments) result(*name) parameters;
    SETTLE_JAVASCRIPT_FUNCTIONS(SETTLE_MEMBER)
#undef SETTLE_MEMBER
};
extern struct settle_javascript settle_javascript;

#define SETTLE_CALL(result, name, parameters, arguments) \
    static inline result name parameters { return settle_javascript.name arguments; }
SETTLE_JAVASCRIPT_FUNCTIONS(SETTLE_CALL)
#undef SETTLE_CALL

/// Loads the library. The functions above must not be called before it returns true.
///
/// - Returns: Whether a library with all functions was found.
bool settle_javascript_load(void);

#endif
