// The prelude of every context: the functions that CouchDB provides to scripts, and those that the worker calls.
//
// A script may change any object in the context of its own design document, and in no other. Its results are JSON text,
// which the server parses as untrusted input.
//
// This is an expression whose value is a function. Its arguments are the logger, a function that finds the line of a
// syntax error, and one that evaluates a module so that its errors name it as their source; it returns an object of
// functions. Each takes and returns text: `+` and the result, `-` and `[error, reason]`, or `!` when memory is exhausted.
// A script that catches that error can't hide it where rows would be lost.
(function (write, mistakenLine, evaluateModule) {
  "use strict";
  const global = globalThis, evaluate = global.eval;
  const parse = JSON.parse, stringify = JSON.stringify, text = String;
  const apply = Reflect.apply, ownKeys = Reflect.ownKeys;
  const freeze = Object.freeze, isFrozen = Object.isFrozen, create = Object.create;
  const kind = Object.prototype.toString, has = Object.prototype.hasOwnProperty;
  for (const name of ["Atomics", "SharedArrayBuffer", "WebAssembly", "console"]) delete global[name];

  let rows = null, hasEmitted = false, isExhausted = false;
  let design = null, maps = null, modules = null;
  let compiled = create(null), reduces = create(null);
  let lastRequest = null, asked = null;
  // The log lines of a trial, which go into its answer.
  let kept = null;

  // What the engine throws where it gets no more memory. What a function does then is nobody's to say, so there is no
  // result, neither of this call nor of another in this process.
  const TooMuch = RangeError;
  function isMemory(error) {
    return error instanceof TooMuch && error.message === "Out of memory";
  }

  function plain(value) {
    return typeof value === "object" && value !== null && "stack" in value && "name" in value
      && "message" in value ? { error: value.name, message: value.message } : value;
  }

  function spelled(error) {
    try {
      if (typeof error === "string") return error;
      if (error !== null && typeof error === "object" && !("stack" in error)) return stringify(error);
      return text(error);
    } catch (_) { return "an error that can not be shown"; }
  }

  function log(message) {
    const line = typeof message === "string" ? message : text(stringify(plain(message)));
    if (kept === null) write(line); else if (kept.length < 100) kept.push(line.slice(0, 2000));
  }

  function share(name, value) {
    Object.defineProperty(global, name, { value, writable: true, configurable: true, enumerable: true });
  }

  share("emit", function emit(key, value) {
    hasEmitted = true;
    if (rows === null) return;
    const shown = plain(value);
    try { rows.push([key, shown]); } catch (error) { isExhausted = true; throw error; }
  });
  share("sum", function sum(values) {
    let total = 0;
    for (const index in values) total += values[index];
    return total;
  });
  share("log", log);
  share("isArray", function isArray(value) { return apply(kind, value, []) === "[object Array]"; });
  share("toJSON", stringify);

  function deepFreeze(value) {
    freeze(value);
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) {
        const inner = value[index];
        if (inner !== null && typeof inner === "object") deepFreeze(inner);
      }
    } else {
      for (const name in value) {
        const inner = value[name];
        if (inner !== null && typeof inner === "object") deepFreeze(inner);
      }
    }
    return value;
  }

  function compile(source) {
    if (typeof source !== "string" || source === "") throw ["error", "not_found", "missing function"];
    let result;
    try { result = evaluate("(" + source + "\n)"); } catch (error) {
      const trimmed = source.replace(/[;\s]+$/, "");
      try {
        if (trimmed === source) throw error;
        result = evaluate("(" + trimmed + "\n)");
      } catch (_) { throw ["error", "compilation_error", spelled(error) + " (" + source + ")"]; }
    }
    if (typeof result === "function") return result;
    throw ["error", "compilation_error", "Expression does not eval to a function. (" + source + ")"];
  }

  // CommonJS: a path is one of members, from the root or from where the asking module stands.
  function requiring(root, from) {
    return function require(name) {
      const parts = text(name).split("/");
      let path = parts[0] === "." || parts[0] === ".." ? from.slice(0, -1) : [];
      if (path.length === 0 && from.length === 0 && (parts[0] === "." || parts[0] === ".."))
        throw ["error", "invalid_require_path", "Object has no parent"];
      for (const part of parts) {
        if (part === ".") continue;
        if (part !== "..") { path.push(part); continue; }
        if (path.length === 0) throw ["error", "invalid_require_path", "Object has no parent"];
        path.pop();
      }
      const id = path.join("/");
      if (has.call(modules, id)) return modules[id].exports;
      let value = root;
      for (const part of path) {
        if (value === null || typeof value !== "object" || value[part] === undefined)
          throw ["error", "invalid_require_path",
                 'Object has no property "' + part + '". ' + stringify(value)];
        value = value[part];
      }
      if (typeof value !== "string")
        throw ["error", "invalid_require_path",
               "Must require a JavaScript string, not: " + (typeof value)];
      const module = { id, exports: {}, current: value };
      modules[id] = module;
      try {
        const body = evaluateModule("(function (module, exports, require) { " + value + "\n })");
        apply(body, global, [module, module.exports, requiring(root, path)]);
      } catch (error) {
        delete modules[id];
        if (Array.isArray(error)) throw error;
        throw ["error", "compilation_error", "Module require('" + name + "') raised error " + spelled(error)];
      }
      return module.exports;
    };
  }

  function functionAt(path) {
    const name = path.join(".");
    if (compiled[name]) return compiled[name];
    let value = design;
    for (const part of path) value = value === null || value === undefined ? undefined : value[part];
    if (path[0] === "views" && value) value = value.map;
    if (!value)
      throw ["error", "not_found", "missing " + path[0] + " function " + path[path.length - 1]];
    return compiled[name] = compile(value);
  }

  // What a function of a view throws costs it the rows of this document and is told to the log, unless it says
  // that nothing should go on.
  function viewError(error, doc) {
    if (isMemory(error)) throw error;
    if (error === "fatal_error") throw ["error", "map_runtime_error", "function raised 'fatal_error'"];
    if (error !== null && typeof error === "object" && error[0] === "fatal") throw error;
    if (error !== null && typeof error === "object" && error[0] === "error" && error[1] === "compilation_error")
      throw error;
    log("function raised exception " + spelled(error) + (doc ? " with doc._id " + doc._id : ""));
  }

  function describe(error) {
    try {
      if (error !== null && typeof error === "object") {
        if (error[0] === "error" || error[0] === "fatal") return [text(error[1]), text(error[2])];
        if (error.error && error.reason) return [text(error.error), text(error.reason)];
        if (error.name) return [text(error.name), text(error.message)];
      }
      return ["unnamed_error", spelled(error)];
    } catch (_) { return ["unnamed_error", "an error that can not be shown"]; }
  }

  // The message and the line of what is wrong with the syntax of a source, or null.
  function mistake(type, source) {
    const text = type === "module" ? "(function (module, exports, require) { " + source + "\n })"
      : "(" + source.replace(/[;\s]+$/, "") + "\n)";
    const line = Math.min(mistakenLine(text), source.split("\n").length);
    try {
      if (type === "module") evaluate(text); else compile(source);
      return null;
    } catch (error) {
      if (line > 0) { try { evaluate(text); } catch (plain) { return [spelled(plain), line]; } }
      return [line > 0 ? spelled(error) : "this is no function", line > 0 ? line : 1];
    }
  }

  function guarded(body) {
    return function (a, b, c) {
      isExhausted = false;
      try {
        const result = "+" + body(a, b, c);
        return isExhausted ? "!" : result;
      } catch (error) { return isExhausted || isMemory(error) ? "!" : "-" + stringify(describe(error)); }
    };
  }

  // Describes what a trial's function threw. It has a line only if that is a line of the function itself: the errors of
  // modules and of this prelude name their source.
  function failure(error, place) {
    const [name, reason] = describe(error);
    const line = error !== null && typeof error === "object" && !error.sourceURL ? error.line : undefined;
    return { error: name, reason, line: typeof line === "number" ? line : undefined, ...place };
  }

  function attempt(functions, context, samples, told) {
    const ready = create(null);
    for (const kind in functions) {
      const mistaken = mistake("function", functions[kind]);
      if (mistaken === null) ready[kind] = compile(functions[kind]);
      else told.errors.push({ function: kind, error: "compilation_error", reason: mistaken[0], line: mistaken[1] });
    }
    if (told.errors.length > 0) return;
    for (const [doc, old] of samples) {
      if (told.rows.length >= 10000) break;
      told.tried++;
      const id = doc._id;
      try {
        const given = parse(context);
        if (ready.map) {
          rows = [];
          (0, ready.map)(deepFreeze(doc));
          told.rows.push(...parse(stringify(rows.map(function (row) { return [id, ...row]; }))));
        } else if (ready.filter) {
          const passes = Boolean(apply(ready.filter, design, [doc, given.request]));
          told.results.push({ id, passes });
        } else {
          const refusal = refused(ready.validate_doc_update, [doc, old, given.user, given.security]);
          told.results.push({ id, refusal });
        }
      } catch (error) {
        if (isMemory(error)) throw error;
        told.errors.push(failure(error, { id }));
      }
    }
    if (!ready.reduce || told.rows.length === 0) return;
    try {
      const keys = told.rows.map(function (row) { return [row[1], row[0]]; });
      told.reduced = [ready.reduce(keys, told.rows.map(function (row) { return row[2]; }), false)];
      stringify(told.reduced);
    } catch (error) {
      if (isMemory(error)) throw error;
      delete told.reduced;
      told.errors.push(failure(error, { function: "reduce" }));
    }
  }

  // What a validation function throws to refuse, in an array; null if it refuses nothing.
  function refused(rule, given) {
    try {
      apply(rule, design, given);
      return null;
    } catch (error) {
      if (error !== null && typeof error === "object" && error.name && error.stack) throw error;
      if (Array.isArray(error)) throw error;
      return [error];
    }
  }

  return {
    load: guarded(function (json) {
      design = parse(json);
      maps = null; modules = create(null); compiled = create(null); reduces = create(null);
      const root = design.maps ? { views: { lib: design.lib } } : design;
      share("require", requiring(root, []));
      return "";
    }),
    check: guarded(function (json) {
      const [type, name, source] = parse(json);
      try { compile(source); } catch (error) {
        throw ["error", "compilation_error", "Compilation of the " + type + " function in the '" + name
               + "' view failed: " + error[2]];
      }
      return "";
    }),
    syntax: guarded(function (json) {
      const [type, source] = parse(json);
      const mistaken = mistake(type, source);
      return mistaken === null ? "1" : stringify(mistaken);
    }),
    map: guarded(function (json) {
      if (maps === null) maps = design.maps.map(compile);
      const doc = deepFreeze(parse(json));
      let result = "";
      for (let index = 0; index < maps.length; index++) {
        rows = [];
        let part = "[]";
        try {
          (0, maps[index])(doc);
          if (rows.length > 0) part = stringify(rows);
        } catch (error) { viewError(error, doc); }
        rows = null;
        result += index === 0 ? part : "," + part;
      }
      return "[" + result + "]";
    }),
    reduce: guarded(function (head, json) {
      let known = reduces[head];
      if (!known) {
        const said = parse(head);
        known = reduces[head] = { functions: said.functions.map(compile), again: said.again };
      }
      const input = parse(json);
      let keys = null, values = input;
      if (!known.again) {
        keys = []; values = [];
        for (const row of input) { keys.push(row[0]); values.push(row[1]); }
      }
      const results = [];
      for (const reduce of known.functions) {
        let value = null;
        try { value = reduce(keys, values, known.again); } catch (error) { viewError(error); }
        results.push(value);
      }
      const line = stringify(results);
      if (line.length > 5000 && line.length * 2 > json.length) {
        const told = "Reduce output must shrink more rapidly: input size: " + json.length
          + " output size: " + line.length;
        return stringify(results.map(function () { return { reduce_overflow_error: told }; }));
      }
      return line;
    }),
    // Functions that are not stored, on samples; what they throw and log is a part of the answer.
    trial: guarded(function (functions, context, samples) {
      const told = { rows: [], results: [], errors: [], log: [], tried: 0 };
      kept = told.log;
      try { attempt(parse(functions), context, parse(samples), told); } finally { rows = null; kept = null; }
      return stringify(told);
    }),
    // A function may change what it is given, so each call gets all of it anew.
    validate: guarded(function (who, json) {
      const documents = parse(json), user = parse(who);
      const refusal = refused(
        functionAt(["validate_doc_update"]), [documents[0], documents[1], user[0], user[1]]);
      return refusal === null ? "1" : text(stringify(refusal[0]));
    }),
    filter: guarded(function (name, request, json) {
      if (request !== lastRequest) { asked = parse(request); lastRequest = request; }
      return apply(functionAt(["filters", name]), design, [parse(json), asked]) ? "1" : "0";
    }),
    filterByView: guarded(function (name, json) {
      const map = functionAt(["views", name]);
      hasEmitted = false;
      map(parse(json));
      return hasEmitted ? "1" : "0";
    }),
    update: guarded(function (name, doc, request) {
      const result = apply(functionAt(["updates", name]), design, [parse(doc), parse(request)]);
      const answer = result === null || result === undefined ? undefined : result[1];
      if (typeof answer !== "string" && (typeof answer !== "object" || answer === null))
        throw ["error", "render_error", "undefined response from update function"];
      return stringify([result[0], typeof answer === "string" ? { body: answer } : answer]);
    }),
  };
})
