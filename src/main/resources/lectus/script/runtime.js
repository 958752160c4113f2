// The functions of one design document. Each design document has a realm of its own, in which the engine evaluates this
// file once. The file's value is a function that takes a line and returns one: first the design document, then calls.
// Everything that calls have in common is frozen, and the functions themselves are made anew for each call, so no call
// sees what another has left behind.
(function (globals) {
  'use strict';

  // Characters of one answer, of a message, and how many messages of log() a call may have.
  var MOST_OUTPUT = 4 * 1024 * 1024;
  var MOST_MESSAGE = 1000;
  var MOST_LOGGED = 16;

  var parse = JSON.parse;
  var stringify = JSON.stringify;
  var ownKeys = Reflect.ownKeys;
  var compileFunction = Function;

  // ---- One call's state, and what functions may use

  var design = null;
  var viewNames = [];
  var factories = Object.create(null);
  var logged = [];

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

  function define(name, value) {
    Object.defineProperty(globals, name, { value: value, configurable: true, enumerable: false, writable: true });
  }

  // ---- Errors

  function Failure(kind, parts) {
    this.kind = kind;
    this.parts = parts;
  }

  function thrown(error, reason) {
    return new Failure('T', [error, reason]);
  }

  function notCompiled(reason) {
    return new Failure('N', [reason]);
  }

  var OLD_CONSTRUCTS = [
    [/\bfor\s+each\s*\(/, 'for each (… in …)', 'for (… of …)'],
    [/=\s*<\w[^>]*>|\.@\w|\.\.\w+\s*\(/, 'E4X (XML literals)', 'strings'],
    [/\[[^\]]*\bfor\s*(each\s*)?\(\s*\w+\s+(in|of)\b/, 'array comprehensions', 'map and filter'],
    [/\bfunction\s*\w*\s*\([^)]*\)\s*[^\s{\/]/, 'functions without braces', 'arrow functions'],
    [/\blet\s*\(/, 'let blocks', 'a block with let']
  ];

  function withOldConstruct(source, message) {
    for (var i = 0; i < OLD_CONSTRUCTS.length; i++) {
      var old = OLD_CONSTRUCTS[i];
      if (old[0].test(source)) {
        return message + ': ' + old[1] + ' is of an old JavaScript engine; use ' + old[2] + '.';
      }
    }
    return message;
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
    if (e instanceof Failure) {
      return e;
    }
    try {
      if (e === null || typeof e !== 'object' && typeof e !== 'function') {
        return thrown(kind === 'VALIDATE' ? 'unknown_error' : 'unnamed_error', text(e));
      }
      if (e instanceof Error) {
        var said = String(e.message);
        return thrown(
          String(e.name),
          /\btoSource\b/.test(said) ? said + ': toSource is of an old JavaScript engine; use toJSON.' : said);
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
    var name = path.join('\u0000');
    var factory = factories[name];
    if (factory === undefined) {
      factory = factories[name] = compile(at(path), path.join('.'));
    }
    return factory;
  }

  function at(path) {
    var value = design;
    for (var i = 0; i < path.length; i++) {
      value = own(value, path[i]);
    }
    if (value === undefined) {
      throw thrown('not_found', 'missing function ' + path.join('.'));
    }
    return value;
  }

  function own(value, name) {
    return value !== null && typeof value === 'object' && Object.prototype.hasOwnProperty.call(value, name)
      ? value[name]
      : undefined;
  }

  function compile(source, name) {
    var language = own(design, 'language');
    if (language !== undefined && language !== 'javascript') {
      throw notCompiled(
        name + ': functions in the language ' + text(language).slice(0, MOST_MESSAGE) + ' do not run here, only javascript.');
    }
    if (typeof source !== 'string') {
      throw notCompiled(name + ' is not the text of a function.');
    }
    try {
      return compileFunction('emit', 'require', asExpression(source) + 'return $function;');
    } catch (e) {
      // The engine says where.
      throw new Failure('N', [name + ': ' + withOldConstruct(source, String(e)), asExpression(source)]);
    }
  }

  function instance(path, emit, root) {
    var made = factoryOf(path)(emit, requireFrom(root));
    if (typeof made !== 'function') {
      throw notCompiled(path.join('.') + ' is not a function.');
    }
    return made;
  }

  // ---- CommonJS: modules are strings in the design document, and run once for each call

  function requireFrom(root) {
    var loaded = Object.create(null);

    function resolve(names, module) {
      for (var i = 0; i < names.length; i++) {
        var name = names[i];
        if (name === '..' || name === '.') {
          var up = name === '.' ? module.parent : module.parent && module.parent.parent;
          if (!up) {
            throw thrown('invalid_require_path', 'Nothing is above ' + module.id + '.');
          }
          module = name === '.' ? { current: up.current, parent: up.parent, id: up.id } : { current: up.current, parent: up.parent, id: up.id };
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
      var found = resolve(names, isRelative && module ? module : { current: root, parent: null, id: '' });
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
        throw new Failure('F', ['It emitted more than 4 MB for one document.']);
      }
    }
    instance(path, emit, libraryOnly())(doc);
    if (size > MOST_OUTPUT) {
      throw new Failure('F', ['It emitted more than 4 MB for one document.']);
    }
    return rows;
  }

  function runMaps(doc) {
    return '[' + viewNames.map(function (name) {
      try {
        return '[' + runMap(['views', name, 'map'], doc).join(',') + ']';
      } catch (e) {
        var failure = failureOf(e, 'MAP');
        return stringify({ error: failure.parts.slice(0, failure.kind === 'N' ? 1 : 2).join(': ').slice(0, MOST_MESSAGE) });
      }
    }).join(',') + ']';
  }

  function withGetters(request, touch) {
    if (request === null || typeof request !== 'object') {
      return;
    }
    ['headers', 'peer', 'cookie', 'uuid'].forEach(function (name) {
      if (!(name in request)) {
        return;
      }
      var value = request[name];
      Object.defineProperty(request, name, {
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
      }
      return 'true';
    },
    VALIDATE: function (path, args) {
      instance(path, noEmit, design).apply(design, args);
      return 'true';
    },
    FILTER: function (path, args) {
      var isTouched = false;
      withGetters(args[1], function () {
        isTouched = true;
      });
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
    try {
      var request = parse(line);
      kind = request[0];
      answer = 'V' + kinds[kind](request[1], request[2]);
      if (answer.length > MOST_OUTPUT) {
        answer = 'F' + stringify(['Its result is larger than 4 MB.']);
      }
    } catch (e) {
      var failure = failureOf(e, kind);
      answer = failure.kind + stringify(failure.parts);
    }
    if (logged.length > 0) {
      answer = logged.join('\n') + '\n' + answer;
      logged = [];
    }
    return answer;
  }

  // ---- What calls have in common

  define('log', log);
  define('sum', sum);
  define('isArray', Array.isArray);
  define('toJSON', stringify);

  function freeze(value) {
    if (value !== null && typeof value === 'object') {
      var names = ownKeys(value);
      for (var i = 0; i < names.length; i++) {
        freeze(value[names[i]]);
      }
      Object.freeze(value);
    }
    return value;
  }

  return function (line) {
    if (design === null) {
      var program = parse(line);
      viewNames = program[0];
      design = freeze(program[1]);
      return '';
    }
    return call(line);
  };
})(this)
