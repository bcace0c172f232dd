// JavaScriptCore's interface in C, the same as Apple's.
#pragma once
#include <JavaScriptCore/JavaScript.h>
