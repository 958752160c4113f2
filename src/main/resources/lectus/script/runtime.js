// The functions of one design document. Each design document has a realm of its own, in which the engine evaluates this
// file once. What it returns is a function that takes a line and returns one: first the design document, then calls.
// An empty answer to a call says that the realm cannot be used any more, and that the call has not begun.
//
// Everything that calls have in common is frozen, and the functions themselves are made anew for each call, so no call
// sees what another has left behind. Rhino reads this file, too, so it is written in what that knows.
(function (globals, isSealed, normalized) {
  // isSealed: the engine keeps all that the language has from being changed.
  // normalized: makes a text's normal form where the engine has no tables of Unicode, and would leave the text as it is.
  'use strict';

  // Characters of one answer, of a message, and how many messages of log() a call may have.
  var MOST_OUTPUT = 4 * 1024 * 1024;
  var MOST_MESSAGE = 1000;
  var MOST_LOGGED = 16;

  var parse = JSON.parse;
  var jsonOf = JSON.stringify;
  var ownKeys = Reflect.ownKeys;
  var compileFunction = Function;

  // ---- One call's state, and what functions may use

  var design = null;
  var viewNames = [];
  var factories = Object.create(null);
  var logged = [];

  // As CouchDB's engines do, U+FFFD takes the place of half a surrogate pair, which UTF-8 cannot have.
  function stringify(value) {
    var json = jsonOf(value);
    return json === undefined || json.indexOf('\\u') < 0
      ? json
      : json.replace(/\\(?:\\|ud[89a-f]..)/gi, function (escaped) {
        return escaped === '\\\\' ? escaped : '\\ufffd';
      });
  }

  function log(message) {
    if (logged.length < MOST_LOGGED) {
      var text = typeof message === 'string' ? message : stringify(message);
      logged.push('L' + stringify(String(text).slice(0, MOST_MESSAGE)));
    }
  }

  function sum(values) {
    var total = 0;
    for (var i in values) {
      total += values[i];
    }
    return total;
  }

  function define(name, value, owner) {
    Object.defineProperty(owner || globals, name, { value: value, configurable: true, enumerable: false, writable: true });
  }

  var FORMS = ['NFC', 'NFD', 'NFKC', 'NFKD'];

  function normalize(form) {
    if (this === null || this === undefined) {
      throw new TypeError('String.prototype.normalize called on ' + this);
    }
    var name = form === undefined ? 'NFC' : String(form);
    if (FORMS.indexOf(name) < 0) {
      throw new RangeError('The normalization form should be one of ' + FORMS.join(', ') + '.');
    }
    return normalized(String(this), name);
  }

  // ---- Errors

  // Those that were made here. A function that catches one must not change it, nor make another: the kind is the
  // beginning of the answer's line, and a line more would answer somebody else's call.
  var failures = new WeakSet();

  function ending(kind, parts) {
    var failure = Object.freeze({ kind: kind, parts: Object.freeze(parts) });
    failures.add(failure);
    return failure;
  }

  function thrown(error, reason) {
    return ending('T', [error, reason]);
  }

  function notCompiled(reason) {
    return ending('N', [reason]);
  }

  var OLD_CONSTRUCTS = [
    [/\bfor\s+each\s*\(/, 'for each (… in …)', 'for (… of …)'],
    [/=\s*<\w[^>]*>|\.@\w|\.\.\w+\s*\(/, 'E4X (XML literals)', 'strings'],
    [/\[[^\]]*\bfor\s*(each\s*)?\(\s*\w+\s+(in|of)\b/, 'an array comprehension', 'map and filter'],
    [/\bfunction\s*\w*\s*\([^){]*\)\s*[^\s{\/]/, 'a function without braces', 'an arrow function'],
    [/\blet\s*\(/, 'a let block', 'a block with let']
  ];

  // What to do about it.
  var EXPLAINED = [
    [/\btoSource\b/, ': toSource is of an old JavaScript engine; use toJSON.'],
    [/Invalid property name/, ': V8 has no tables of Unicode here; list the characters, or set scripts.engine to rhino.']
  ];

  function explained(message) {
    for (var i = 0; i < EXPLAINED.length; i++) {
      if (EXPLAINED[i][0].test(message)) {
        return message + EXPLAINED[i][1];
      }
    }
    return message;
  }

  function withOldConstruct(source, message) {
    for (var i = 0; i < OLD_CONSTRUCTS.length; i++) {
      var old = OLD_CONSTRUCTS[i];
      if (old[0].test(source)) {
        return message + ': ' + old[1] + ' is of an old JavaScript engine; use ' + old[2] + '.';
      }
    }
    return explained(message);
  }

  function text(value) {
    if (typeof value === 'string') {
      return value;
    }
    var json = stringify(value);
    return json === undefined ? String(value) : json;
  }

  // CouchDB's meanings of what a function throws.
  function failureOf(e, kind) {
    if (failures.has(e)) {
      return e;
    }
    try {
      if (e === null || typeof e !== 'object' && typeof e !== 'function') {
        return thrown(kind === 'VALIDATE' ? 'unknown_error' : 'unnamed_error', text(e));
      }
      if (e instanceof Error) {
        var said = String(e.message);
        return thrown(String(e.name), explained(said));
      }
      if (Array.isArray(e) && (e[0] === 'error' || e[0] === 'fatal')) {
        return thrown(text(e[1]), text(e[2]));
      }
      if (e.forbidden !== undefined) {
        return thrown('forbidden', text(e.forbidden));
      }
      if (e.unauthorized !== undefined) {
        return thrown('unauthorized', text(e.unauthorized));
      }
      if (e.error !== undefined && e.reason !== undefined) {
        return thrown(text(e.error), text(e.reason));
      }
      return thrown(kind === 'VALIDATE' ? 'unknown_error' : 'unnamed_error', text(e));
    } catch (another) {
      return thrown('unnamed_error', 'What was thrown cannot be shown.');
    }
  }

  // ---- Compiling

  // A function may have no name, a semicolon after it, and comments around it.
  function asExpression(source) {
    return 'var $function =\n' + source + '\n;';
  }

  function factoryOf(path) {
    var key = path.join('\u0000');
    var factory = factories[key];
    if (factory === undefined) {
      factory = factories[key] = compile(at(path), path);
    }
    return factory;
  }

  function at(path) {
    var value = path.reduce(own, design);
    if (value === undefined) {
      throw thrown('not_found', 'missing function ' + path[path.length - 1]);
    }
    return value;
  }

  function own(value, name) {
    return value !== null && typeof value === 'object' && Object.prototype.hasOwnProperty.call(value, name)
      ? value[name]
      : undefined;
  }

  // As CouchDB says it.
  function failed(path, message) {
    var name = path[0] === 'views'
      ? path[2] + ' function in the \'' + path[1] + '\' view'
      : path.length === 1 ? path[0] + ' function' : path[0].replace(/s$/, '') + ' function \'' + path[1] + '\'';
    return 'Compilation of the ' + name + ' failed: ' + message;
  }

  function isJavaScript() {
    var language = own(design, 'language');
    return language === undefined || language === 'javascript';
  }

  function compile(source, path) {
    if (!isJavaScript()) {
      throw notCompiled(
        failed(path, 'the language ' + text(design.language).slice(0, MOST_MESSAGE) + ' is not supported.'));
    }
    if (typeof source !== 'string') {
      throw notCompiled(failed(path, 'it is not a string.'));
    }
    try {
      return compileFunction('emit', 'require', asExpression(source) + 'return $function;');
    } catch (e) {
      // The engine says where.
      throw ending('N', [failed(path, withOldConstruct(source, String(e))), asExpression(source)]);
    }
  }

  function instance(path, emit, root) {
    var made = factoryOf(path)(emit, requireFrom(root));
    if (typeof made !== 'function') {
      throw notCompiled(failed(path, 'expression does not eval to a function.'));
    }
    return made;
  }

  // What harms others than those who call it if it does not compile: CouchDB compiles views when they are written.
  function checkedFunctions() {
    var paths = [['validate_doc_update']];
    viewNames.forEach(function (name) {
      paths.push(['views', name, 'map'], ['views', name, 'reduce']);
    });
    return paths.filter(function (path) {
      var source = path.reduce(own, design);
      return typeof source === 'string' && !(path[2] === 'reduce' && source.charAt(0) === '_');
    });
  }

  // ---- CommonJS: modules are strings in the design document, and run once for each call

  function requireFrom(root) {
    var loaded = Object.create(null);

    // From a folder on, which is an object of the design document.
    function resolve(names, module) {
      for (var i = 0; i < names.length; i++) {
        var name = names[i];
        if (name === '.') {
          continue;
        }
        if (name === '..') {
          if (!module.parent) {
            throw thrown('invalid_require_path', 'Nothing is above the design document.');
          }
          module = module.parent;
          continue;
        }
        var next = own(module.current, name);
        if (next === undefined) {
          throw thrown('invalid_require_path', 'Nothing has the path ' + names.join('/').slice(0, MOST_MESSAGE) + '.');
        }
        module = { current: next, parent: module, id: module.id ? module.id + '/' + name : name };
      }
      if (typeof module.current !== 'string') {
        throw thrown('invalid_require_path', 'A module has to be a string, and ' + module.id + ' is none.');
      }
      return module;
    }

    function requireIn(module, name) {
      var names = String(name).split('/');
      var isRelative = names[0] === '.' || names[0] === '..';
      var found = resolve(names, isRelative && module ? module.parent : { current: root, parent: null, id: '' });
      if (found.id in loaded) {
        return loaded[found.id].exports;
      }
      var key = 'module\u0000' + found.id;
      var factory = factories[key];
      if (factory === undefined) {
        try {
          factory = factories[key] = compileFunction('module', 'exports', 'require', found.current);
        } catch (e) {
          throw notCompiled('The module ' + found.id + ': ' + withOldConstruct(found.current, String(e)));
        }
      }
      var made = { id: found.id, exports: {}, current: found.current, parent: found.parent };
      loaded[found.id] = made;
      factory.call(made.exports, made, made.exports, function (other) {
        return requireIn(found, other);
      });
      return made.exports;
    }

    return function (name) {
      return requireIn(null, name);
    };
  }

  // ---- Calls

  function noEmit() {
    throw thrown('ReferenceError', 'emit is for map functions');
  }

  function libraryOnly() {
    return { views: { lib: own(own(design, 'views'), 'lib') } };
  }

  function runMap(path, doc) {
    var rows = [];
    var size = 0;
    function emit(key, value) {
      if (typeof key === 'string' && key.length > MOST_OUTPUT) {
        size = Infinity;
      } else {
        var row = stringify([key, value]);
        size += row.length + 1;
        rows.push(row);
      }
      if (size > MOST_OUTPUT) {
        rows = [];
        throw ending('F', ['output']);
      }
    }
    instance(path, emit, libraryOnly())(doc);
    if (size > MOST_OUTPUT) {
      throw ending('F', ['output']);
    }
    return rows;
  }

  // A map that does not compile fails them all, as in CouchDB; one that throws has no rows.
  function runMaps(doc) {
    viewNames.forEach(function (name) {
      factoryOf(['views', name, 'map']);
    });
    return '[' + viewNames.map(function (name) {
      try {
        return '[' + runMap(['views', name, 'map'], doc).join(',') + ']';
      } catch (e) {
        var failure = failureOf(e, 'MAP');
        return stringify({ error: failure.parts.slice(0, failure.kind === 'N' ? 1 : 2).join(': ').slice(0, MOST_MESSAGE) });
      }
    }).join(',') + ']';
  }

  // What only one request has, and how a feed is read: requests that differ in them may share a filter's verdicts.
  var OF_ONE_REQUEST = ['headers', 'peer', 'cookie', 'uuid', 'raw_path', 'info'];
  var OF_ONE_READER = ['since', 'last-event-id', 'feed', 'heartbeat', 'timeout', 'limit'];

  function watch(object, watched, touch) {
    if (object === null || typeof object !== 'object') {
      return;
    }
    ownKeys(object).forEach(function (name) {
      if (watched.indexOf(name.toLowerCase()) < 0) {
        return;
      }
      var value = object[name];
      Object.defineProperty(object, name, {
        enumerable: true,
        configurable: true,
        get: function () {
          touch();
          return value;
        },
        set: function (other) {
          value = other;
        }
      });
    });
  }

  var kinds = {
    COMPILE: function (path) {
      if (path.length > 0) {
        instance(path, noEmit, design);
      } else if (isJavaScript()) {
        checkedFunctions().forEach(function (each) {
          instance(each, noEmit, design);
        });
      }
      return 'true';
    },
    VALIDATE: function (path, args) {
      instance(path, noEmit, design).apply(design, args);
      return 'true';
    },
    FILTER: function (path, args) {
      var isTouched = false;
      function touch() {
        isTouched = true;
      }
      watch(args[1].query, OF_ONE_READER, touch);
      watch(args[1], OF_ONE_REQUEST, touch);
      var isWanted = Boolean(instance(path, noEmit, design).apply(design, args));
      return isTouched ? '{"result":' + isWanted + ',"touched":true}' : String(isWanted);
    },
    VIEW_FILTER: function (path, args) {
      return String(runMap(path, freeze(args[0])).length > 0);
    },
    UPDATE: function (path, args) {
      var result = instance(path, noEmit, design).apply(design, args);
      var response = result === null || result === undefined ? undefined : result[1];
      if (response === undefined || response === null) {
        throw thrown('render_error', 'undefined response from update function');
      }
      return stringify([result[0] === undefined ? null : result[0], response]);
    },
    MAP: function (path, args) {
      var doc = freeze(args[0]);
      return path.length === 1 ? runMaps(doc) : '[' + runMap(path, doc).join(',') + ']';
    },
    REDUCE: function (path, args) {
      return value(instance(path, noEmit, libraryOnly())(args[0], args[1], false));
    },
    REREDUCE: function (path, args) {
      return value(instance(path, noEmit, libraryOnly())(null, args[0], true));
    }
  };

  function value(result) {
    var json = stringify(result);
    return json === undefined ? 'null' : json;
  }

  function call(line) {
    var kind = '';
    var answer;
    logged = [];
    try {
      var request = parse(line);
      kind = request[0];
      answer = 'V' + kinds[kind](request[1], request[2]);
      if (answer.length > MOST_OUTPUT) {
        answer = 'F' + '["output"]';
      }
    } catch (e) {
      var failure = failureOf(e, kind);
      answer = failure.kind + stringify(failure.parts);
    }
    if (logged.length > 0) {
      answer = logged.join('\n') + '\n' + answer;
    }
    return answer;
  }

  // ---- What calls have in common

  // Lasts beyond a call, waits, takes memory that is not counted, or leads out of the engine.
  var ABSENT = [
    'Atomics', 'FinalizationRegistry', 'SharedArrayBuffer', 'WeakRef', 'WebAssembly', 'console',
    'Call', 'CallSite', 'Continuation', 'JavaException', 'Script', 'With'
  ];

  // A frozen prototype would keep objects from having members of these names of their own.
  var OFTEN_REPLACED = Object.getOwnPropertyNames(Object.prototype).concat(['name', 'message', 'toJSON']);

  var OWN = [noEmit, log, sum];
  var known = null;
  var globalPrototype = Object.getPrototypeOf(globals);

  function freezeRealm() {
    ABSENT.forEach(function (name) {
      delete globals[name];
    });
    if (!isSealed) {
      // It makes numbers of any length.
      delete JSON.rawJSON;
    }
    var found = [];
    var seen = new Set();
    function add(value) {
      if (value !== null && (typeof value === 'object' || typeof value === 'function') && !seen.has(value)) {
        seen.add(value);
        found.push(value);
      }
    }
    (isSealed ? OWN : [globals].concat(OWN, withoutNames())).forEach(add);
    for (var i = 0; i < found.length; i++) {
      var object = found[i];
      if (!isSealed) {
        add(Object.getPrototypeOf(object));
      }
      ownKeys(object).forEach(function (key) {
        var property = Object.getOwnPropertyDescriptor(object, key);
        add(property.value);
        add(property.get);
        add(property.set);
      });
    }
    found.forEach(function (object) {
      if (object !== globals) {
        letReplace(object);
        Object.freeze(object);
      }
    });
    ownKeys(globals).forEach(function (name) {
      var property = Object.getOwnPropertyDescriptor(globals, name);
      if (property.configurable) {
        Object.defineProperty(
          globals, name, 'value' in property ? { writable: false, configurable: false } : { configurable: false });
      }
    });
    known = new Set(ownKeys(globals));
  }

  // Prototypes that no global name leads to.
  function withoutNames() {
    return [
      'return [][Symbol.iterator]()', 'return ""[Symbol.iterator]()', 'return new Map().entries()',
      'return new Set().entries()', 'return "".matchAll(/a/g)', 'return function* () {}', 'return async function () {}',
      'return async function* () {}', 'return Object.getPrototypeOf(Int8Array)', 'return Iterator.from({ next: 1 })',
      'return [].values().map(String)', 'return new Intl.Segmenter().segment("")',
      'return new Intl.Segmenter().segment("")[Symbol.iterator]()'
    ].map(function (source) {
      try {
        return compileFunction(source)();
      } catch (e) {
        return null;
      }
    });
  }

  function letReplace(object) {
    var maker = Object.getOwnPropertyDescriptor(object, 'constructor');
    if (!maker || typeof maker.value !== 'function' || maker.value.prototype !== object) {
      return;
    }
    OFTEN_REPLACED.forEach(function (name) {
      var property = Object.getOwnPropertyDescriptor(object, name);
      if (property && property.configurable && property.writable) {
        Object.defineProperty(object, name, replaceable(object, name, property));
      }
    });
  }

  function replaceable(owner, name, property) {
    function get() {
      return property.value;
    }
    function set(other) {
      if (this !== owner && Object(this) === this) {
        Object.defineProperty(this, name, { value: other, configurable: true, enumerable: true, writable: true });
      }
    }
    Object.freeze(get);
    Object.freeze(set);
    return { get: get, set: set, configurable: true, enumerable: property.enumerable };
  }

  // Returns whether nothing is left of the last call: of what it made global, and of its last match.
  function isClean() {
    try {
      /(?:)/.exec('');
      var names = ownKeys(globals);
      return Object.getPrototypeOf(globals) === globalPrototype && Object.isExtensible(globals)
        && (names.length === known.size || names.every(function (name) {
          return known.has(name) || Reflect.deleteProperty(globals, name);
        }));
    } catch (e) {
      return false;
    }
  }

  // Without recursion: a document may be nested deeper than the stack is.
  function freeze(value) {
    var open = [value];
    while (open.length > 0) {
      var next = open.pop();
      if (next !== null && typeof next === 'object') {
        var names = Object.keys(next);
        for (var i = 0; i < names.length; i++) {
          open.push(next[names[i]]);
        }
        Object.freeze(next);
      }
    }
    return value;
  }

  define('log', log);
  define('sum', sum);
  define('isArray', Array.isArray);
  define('toJSON', jsonOf);
  if (normalized) {
    define('normalize', normalize, String.prototype);
  }
  freezeRealm();

  return function (line) {
    if (design === null) {
      var program = parse(line);
      viewNames = program[0];
      design = freeze(program[1]);
      return '';
    }
    return isClean() ? call(line) : '';
  };
})
