package lectus.script;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import lectus.json.JsonBuffer;
import lectus.script.Call.Program;
import lectus.script.Outcome.Failed;
import lectus.script.Outcome.NotCompiled;
import lectus.script.Outcome.Thrown;
import lectus.script.Outcome.Value;
import lectus.script.Scripts.Pool;
import lectus.script.Scripts.ScriptSettings;
import lectus.script.Scripts.ScriptSettings.EngineChoice;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Functions as CouchDB's users write them, and as those write them who mean harm. */
final class ScriptsTest {
  @Nested
  final class OnV8 extends Functions {
    private final Scripts impatient =
        new Scripts(new ScriptSettings(EngineChoice.V8, 1, 64, 1, MEMORY));

    OnV8() {
      super(EngineChoice.V8);
    }

    @AfterAll
    void endImpatient() {
      impatient.close();
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "(doc, {query}) => { const [a, ...b] = [1, 2]; for (const x of b) { return x === 2; } }",
          "function() { return new (class { #x = 2n ** 3n; get x() { return this.#x; } })().x ==="
              + " 8n; }",
          "function() { return Math.max(...[1, 2]) === 2 && ({...{a: 1}}).a?.b === undefined; }"
        })
    void v8_has_all_of_the_language(String function) {
      assertThat(run(filter(function), filtered("{}", "{}"))).isEqualTo("true");
    }

    @Test
    void classes_of_characters_that_v8_does_not_know_are_refused_with_a_way_out() {
      String way = "; list the characters, or set scripts.engine to rhino.";
      assertThat(
              run(
                  filter("function() { return /\\p{L}/u.test('a'); }"),
                  call(Kind.COMPILE, "filters.f")))
          .contains("Invalid property name", way);
      assertThat(
              run(
                  filter("function() { return new RegExp('\\\\p{L}', 'u').test('a'); }"),
                  filtered("{}", "{}")))
          .startsWith("SyntaxError: ")
          .endsWith(way);
    }

    @ParameterizedTest
    @CsvSource(
        quoteCharacter = '`',
        delimiter = '|',
        value = {
          "function(doc) { for each (var x in doc) emit(x); } | for each (… in …)",
          "function(doc) { var x = <a>b</a>; } | E4X (XML literals)",
          "function(doc) { return [x * 2 for (x in doc)]; } | an array comprehension",
          "function(doc) doc.a | a function without braces"
        })
    void old_constructs_are_refused_by_name(String function, String construct) {
      assertThat(run(filter(function), call(Kind.COMPILE, "filters.f")))
          .contains(construct + " is of an old JavaScript engine; use ");
    }

    @Test
    void old_methods_are_refused_by_name() {
      assertThat(run(filter("function(doc) { return doc.toSource(); }"), filtered("{}", "{}")))
          .isEqualTo(
              "TypeError: doc.toSource is not a function: toSource is of an old JavaScript engine;"
                  + " use toJSON.");
    }

    @ParameterizedTest
    @CsvSource(
        quoteCharacter = '`',
        delimiter = '|',
        value = {
          "for (;;) {} | time",
          "/(a+)+$/.test('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab') | time",
          "try { for (;;) {} } finally { for (;;) {} } | time",
          "for (;;) { try { (function f() { f(); })(); } catch (e) {} } | time",
          "var a = []; for (;;) a.push(new Array(1000).fill(7.5)) | memory",
          "var a = 'x'; for (;;) { a += a; a.charCodeAt(0); } | memory",
          "Promise.resolve().then(function() { for (;;) {} }) | time"
        })
    void what_takes_too_much_ends_alone(String statement, String what) {
      String good = filter("function() { return true; }");
      List<CompletableFuture<Outcome>> outcomes =
          impatient.run(
              Pool.BACKGROUND,
              "bad",
              program(filter("function(doc) { if (doc.bad) { " + statement + " } return true; }")),
              List.of(
                  filtered("{}", "{}"), filtered("{\"bad\":true}", "{}"), filtered("{}", "{}")));
      assertThat(run(impatient, good, filtered("{}", "{}"))).isEqualTo("true");
      assertThat(shown(outcomes.get(0))).isEqualTo("true");
      assertThat(shown(outcomes.get(1)))
          .matches(
              "The function filters\\.f took too much (time|memory)\\."
                  + "|RangeError: Invalid string length"
                  + "|The function filters\\.f ended its process\\.");
      assertThat(shown(outcomes.get(2))).isEqualTo("true");
      assertThat(what).isNotEmpty();
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "for (var i = 0; i < 10000000; i++) emit(i, i);",
          "for (var i = 0; i < 10000000; i++) try { emit(i, i); } catch (e) {}",
          "emit(new Array(100 * 1024 * 1024 + 1).join('x'));",
          "emit([new Array(6 * 1024 * 1024 + 1).join('x')]);"
        })
    void a_document_has_no_more_than_four_megabytes_of_rows(String statement) {
      String design =
          json("{'views':{'v':{'map':%s}}}")
              .formatted(new JsonBuffer(64).string("function() { " + statement + " }").toString());
      assertThat(run(design, call(Kind.MAP, "views.v.map", "{}")))
          .matches(
              "The function views\\.v\\.map (returned more than 4 MB|took too much"
                  + " (memory|time))\\.");
      assertThat(
              run(
                  design.replace("10000000", "10").replaceAll("\\d+ \\* 1024", "3 * 1024"),
                  call(Kind.MAP, "views.v.map", "{}")))
          .startsWith("[[");
    }
  }

  @Nested
  final class OnRhino extends Functions {
    OnRhino() {
      super(EngineChoice.RHINO);
    }
  }

  @TestInstance(TestInstance.Lifecycle.PER_CLASS)
  abstract static class Functions {
    static final long MEMORY = 64 << 20;

    /** No call that is meant to end takes so long, however busy the machine is. */
    private static final int PATIENCE_SECONDS = 60;

    /** Design documents that a child has at a time. */
    private static final int MANY = 16;

    private final Scripts scripts;
    final boolean isV8;

    Functions(EngineChoice engine) {
      isV8 = engine == EngineChoice.V8;
      scripts = new Scripts(new ScriptSettings(engine, 1, 64, PATIENCE_SECONDS, MEMORY));
    }

    @AfterAll
    void end() {
      scripts.close();
    }

    @Test
    void maps_answer_in_the_order_of_the_views() {
      String design =
          json(
              "{'views':{'b':{'map':'function(doc) { emit(doc.type, 1);"
                  + " }'},'lib':{},'1':{'map':'function(doc) { emit([doc._id]); nothing.at.all;"
                  + " }'},'a':{'map':'function(doc) { emit(undefined, doc.type); emit(1); }'}}}");
      assertThat(run(design, call(Kind.MAP, "views", "{\"_id\":\"a\",\"type\":\"t\"}")))
          .startsWith("[[[\"t\",1]],{\"error\":\"ReferenceError: ")
          .endsWith("},[[null,\"t\"],[1,null]]]");
      assertThat(run(design, call(Kind.MAP, "views.b.map", "{\"type\":2}"))).isEqualTo("[[2,1]]");
    }

    @Test
    void a_map_cannot_change_its_document_for_the_next_one() {
      assertThat(
              run(
                  json(
                      "{'views':{'a':{'map':'function(doc) { doc.b.c = 2; doc.d = 1;"
                          + " }'},'b':{'map':'function(doc) { emit(doc.b.c, doc.d); }'}}}"),
                  call(Kind.MAP, "views", json("{'b':{'c':1}}"))))
          .endsWith(",[[1,null]]]");
    }

    @Test
    void a_document_may_be_nested_deeply() {
      String deep = "[".repeat(900) + "]".repeat(900);
      assertThat(
              run(
                  json("{'x':%s,'views':{'v':{'map':'function(doc) { emit(1); }'}}}")
                      .formatted(deep),
                  call(Kind.MAP, "views", "{\"a\":" + deep + "}")))
          .isEqualTo("[[[1,null]]]");
    }

    @Test
    void reduces_get_keys_and_values_or_values_alone() {
      String design =
          json(
              "{'views':{'v':{'map':'','reduce':'function(keys, values, again) { return [keys,"
                  + " sum(values), again]; }'}}}");
      assertThat(
              run(
                  design,
                  call(Kind.REDUCE, "views.v.reduce", json("[['k','id'],[2,'i']]"), "[1,2]")))
          .isEqualTo(json("[[['k','id'],[2,'i']],3,false]"));
      assertThat(run(design, call(Kind.REREDUCE, "views.v.reduce", "[3,4]")))
          .isEqualTo("[null,7,true]");
    }

    @Test
    void a_filter_tells_whether_it_looked_at_what_only_its_own_client_has() {
      String plain = filter("function(doc, req) { return doc.a == req.query.a; }");
      assertThat(run(plain, filtered("{\"a\":1}", "{\"query\":{\"a\":\"1\"},\"headers\":{}}")))
          .isEqualTo("true");
      assertThat(run(plain, filtered("{\"a\":2}", "{\"query\":{\"a\":\"1\"},\"headers\":{}}")))
          .isEqualTo("false");
      for (String name : List.of("headers", "peer", "cookie", "uuid")) {
        String touching = filter("function(doc, req) { return req." + name + " === 'x'; }");
        assertThat(run(touching, filtered("{}", "{\"" + name + "\":\"x\"}")))
            .isEqualTo("{\"result\":true,\"touched\":true}");
      }
    }

    @Test
    void a_view_as_a_filter_wants_what_it_emits_something_for() {
      String design = "{\"views\":{\"v\":{\"map\":\"function(doc) { if (doc.a) emit(null); }\"}}}";
      assertThat(run(design, call(Kind.VIEW_FILTER, "views.v.map", "{\"a\":1}"))).isEqualTo("true");
      assertThat(run(design, call(Kind.VIEW_FILTER, "views.v.map", "{}"))).isEqualTo("false");
    }

    @Test
    void an_update_answers_a_document_and_a_response() {
      String design =
          json(
              "{'updates':{'u':'function(doc, req) { return [doc, req.body]; }','none':'function()"
                  + " { return [null]; }'}}");
      assertThat(run(design, call(Kind.UPDATE, "updates.u", "{\"_id\":\"a\"}", "{\"body\":\"b\"}")))
          .isEqualTo("[{\"_id\":\"a\"},\"b\"]");
      assertThat(run(design, call(Kind.UPDATE, "updates.none", "null", "{}")))
          .isEqualTo("render_error: undefined response from update function");
    }

    @Test
    void a_function_has_its_design_document_and_may_require_from_it() {
      String design =
          "{\"_id\":\"_design/d\",\"lib\":{\"a\":\"exports.a = require('./b').b + this.x; var n ="
              + " 0; exports.next = function() { return ++n; }; exports.x = 1;\",\"b\":\"exports.b"
              + " = require('../other').c;\"},\"other\":\"module.exports = {c:"
              + " 'c'};\",\"views\":{\"lib\":{\"l\":\"exports.l ="
              + " 5;\"},\"v\":{\"map\":\"function(doc) { emit(require('views/lib/l').l);"
              + " require('lib/a'); }\"}},\"filters\":{\"f\":\"function() { throw {forbidden:"
              + " this._id + require('lib/a').a + require('lib/a').next() +"
              + " require('lib/a').next()}; }\",\"no\":\"function() { require('lib'); }\"}}";
      for (int again = 0; again < 2; again++) {
        assertThat(run(design, call(Kind.FILTER, "filters.f", "{}", "{}")))
            .isEqualTo("forbidden: _design/dcundefined12");
      }
      assertThat(run(design, call(Kind.FILTER, "filters.no", "{}", "{}")))
          .startsWith("invalid_require_path: ");
      assertThat(run(design, call(Kind.VIEW_FILTER, "views.v.map", "{}")))
          .startsWith("invalid_require_path: ");
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "function(doc) { return isArray([]) && !isArray(doc) && toJSON({a: 1}) === '{\"a\":1}';"
              + " };",
          "/* before */ function (doc) { return true; } // after",
          "// before\n\n"
              + "function named(doc) { return helper(); };\n"
              + "function helper() { return true; }",
          "(function() { return true; })",
          "function() { for (i = 0; i < 3; i++) {} return i === 3; }",
          "function() { return [].concat([1]).length === 1 && /a(b)/.exec('ab')[1] === 'b'; }",
          "function() { log('a message'); log({a: 1}); return true; }",
          "function() { function A() {} A.prototype.toString = function() { return 'a'; };"
              + " A.prototype.constructor = A; var e = new Error('b'); e.message = 'c'; e.name ="
              + " 'd'; var o = {}; o.hasOwnProperty = 1; o.toString = 2; return String(new A()) ==="
              + " 'a' && e.message === 'c' && o.toString === 2; }"
        })
    void functions_run_as_they_are_written(String function) {
      assertThat(run(filter(function), filtered("{}", "{}"))).isEqualTo("true");
    }

    @ParameterizedTest
    @CsvSource(
        quoteCharacter = '`',
        delimiter = '|',
        value = {
          "throw {forbidden: 'no'} | forbidden: no",
          "throw {unauthorized: 'who'} | unauthorized: who",
          "throw {forbidden: {a: 1}} | forbidden: {\"a\":1}",
          "throw {error: 'e', reason: 'r'} | e: r",
          "throw ['error', 'e', 'r'] | e: r",
          "throw {other: 'x'} | unknown_error: {\"other\":\"x\"}",
          "throw 'text' | unknown_error: text",
          "throw 5 | unknown_error: 5",
          "throw null | unknown_error: null",
          "throw undefined | unknown_error: undefined",
          "throw Symbol('s') | unknown_error: Symbol(s)",
          "throw function() {} | unknown_error: function() {}",
          "throw new TypeError('t') | TypeError: t",
          "throw {get forbidden() { throw 1; }} | unnamed_error: What was thrown cannot be shown.",
          "throw {toJSON: function() { throw 1; }} | unnamed_error: What was thrown cannot be"
              + " shown.",
          "var a = {}; a.a = a; throw a | unnamed_error: What was thrown cannot be shown."
        })
    void whatever_is_thrown_is_an_answer(String statement, String answer) {
      String design =
          "{\"validate_doc_update\":"
              + new JsonBuffer(64).string("function() { " + statement + "; }").toString()
              + "}";
      assertThat(run(design, validation())).isEqualTo(answer);
    }

    @ParameterizedTest
    @CsvSource({
      "'\\u00e9'.normalize() === '\\u00e9' && 'e\\u0301'.normalize('NFC') === '\\u00e9'",
      "'\\u00e9'.normalize('NFD') === 'e\\u0301' && '\\ufb01'.normalize('NFD') === '\\ufb01'",
      "'\\ufb01'.normalize('NFKC') === 'fi' && '\\ufb01\\u00e9'.normalize('NFKD').length === 4",
      "String.prototype.normalize.call(5) === '5' && ''.normalize() === ''",
      "'\\ud83d\\ude00'.normalize('NFKD') === '\\ud83d\\ude00'",
      "(function() { try { 'a'.normalize('x'); } catch (e) { return e instanceof RangeError; }"
          + " })()",
      "(function() { try { ''.normalize.call(null); } catch (e) { return e instanceof TypeError; }"
          + " })()"
    })
    void texts_have_their_normal_forms(String expression) {
      assertThat(run(filter("function() { return " + expression + "; }"), filtered("{}", "{}")))
          .isEqualTo("true");
    }

    private static Call validation() {
      return call(Kind.VALIDATE, "validate_doc_update", "{}", "null", "{}", "{}");
    }

    @Test
    void a_function_that_is_no_javascript_is_named_with_line_and_column() {
      assertThat(run(filter("function(doc) {\n  return doc.;\n}"), call(Kind.COMPILE, "filters.f")))
          .startsWith("Compilation of the filter function 'f' failed: SyntaxError: ")
          .endsWith("(line 2, column 14)");
      assertThat(run(filter("5"), call(Kind.COMPILE, "filters.f")))
          .isEqualTo(
              "Compilation of the filter function 'f' failed: expression does not eval to a"
                  + " function.");
      assertThat(run("{}", call(Kind.FILTER, "filters.f", "{}", "{}")))
          .isEqualTo("not_found: missing function f");
    }

    @Test
    void views_and_validators_are_compiled_before_they_are_stored() {
      Call all = new Call(Kind.COMPILE, List.of(), List.of());
      assertThat(
              run(
                  json(
                      "{'language':'javascript','views':{'lib':{'x':'('},'v':{'map':'function(doc)"
                          + " {}','reduce':'_sum'}},'shows':{'s':'('},'filters':{'f':'('}}"),
                  all))
          .isEqualTo("true");
      assertThat(run(json("{'views':{'v':{'map':'function() {}','reduce':'function( {}'}}}"), all))
          .startsWith("Compilation of the reduce function in the 'v' view failed: SyntaxError: ");
      assertThat(run("{\"validate_doc_update\":\"x y\"}", all))
          .startsWith("Compilation of the validate_doc_update function failed: SyntaxError: ");
      assertThat(run("{\"language\":\"query\",\"validate_doc_update\":{}}", all)).isEqualTo("true");
    }

    @Test
    void other_languages_are_refused_by_name() {
      assertThat(
              run(
                  json("{'language':'erlang','filters':{'f':'fun({Doc}, Req) -> true end.'}}"),
                  filtered("{}", "{}")))
          .isEqualTo(
              "Compilation of the filter function 'f' failed: the language erlang is not"
                  + " supported.");
    }

    /** Each says whether it is the first to be there, and is called twice. */
    @ParameterizedTest
    @ValueSource(
        strings = {
          "function() { var first = typeof kept === 'undefined'; kept = 1; return first; }",
          "function() { var first = !globalThis.kept; globalThis.kept = globalThis[0] = 1;"
              + " return first; }",
          "function() { var first = typeof kept === 'undefined';"
              + " Object.defineProperty(globalThis, 'kept', {value: 1}); return first; }",
          "function() { var first = !globalThis.kept; Object.setPrototypeOf(globalThis, {kept: 1});"
              + " return first; }",
          "function() { kept = 1; Object.freeze(globalThis); return kept === 1; }",
          "function() { try { Array.prototype.kept = String.prototype.trim = JSON.parse = null;"
              + " Object.prototype.kept = 1; emit.kept = log.kept = sum.prototype.kept = 1;"
              + " } catch (e) {} return ' a'.trim() === 'a' && {}.kept === undefined"
              + " && emit.kept === undefined && log.kept === undefined; }",
          "function f() { f.kept = (f.kept || 0) + 1; return f.kept === 1; }",
          "(function() { var kept = 0; return function() { return ++kept === 1; }; })()",
          "function(doc, req) { var first = !this.kept && !this.filters.kept;"
              + " try { this.kept = this.filters.kept = 1; } catch (e) {} return first; }",
          "function() { try { require('x'); } catch (e) { var p = Object.getPrototypeOf(e);"
              + " var first = !p.kept; try { p.kept = 1; } catch (e) {} return first; } }",
          "function() { var first = RegExp.$1 === ''; /(kept)/.exec('kept'); return first; }",
          "function() { var first = typeof kept === 'undefined';"
              + " Promise.resolve().then(function() { kept = 1; log('later'); }); return first; }"
        })
    void nothing_is_left_for_the_next_call(String function) {
      String design = filter(function);
      assertThat(run(design, filtered("{}", "{}"))).isEqualTo("true");
      assertThat(run(design, filtered("{}", "{}"))).isEqualTo("true");
      assertThat(
              run(
                  filter("function() { return typeof kept === 'undefined'; }"),
                  filtered("{}", "{}")))
          .isEqualTo("true");
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "java", "Packages", "javax", "importClass", "importPackage", "JavaAdapter", "getClass",
          "process", "module", "Deno", "WebAssembly", "SharedArrayBuffer", "Atomics", "console",
          "quit", "load", "print", "readFile", "setTimeout", "XMLHttpRequest", "fetch"
        })
    void nothing_of_java_or_the_machine_is_there(String name) {
      for (String look :
          List.of(
              "typeof " + name,
              "eval('typeof " + name + "')",
              "(0, eval)('typeof " + name + "')",
              "new Function('return typeof " + name + "')()",
              "(function() {}).constructor.constructor('return typeof " + name + "')()",
              "typeof (function() { return this; })()." + name,
              "typeof ({})." + name,
              "typeof ''." + name)) {
        assertThat(
                run(
                    filter("function() { return " + look + " === 'undefined'; }"),
                    filtered("{}", "{}")))
            .as(look)
            .isEqualTo("true");
      }
    }

    @Test
    void recursion_is_an_error_of_the_function() {
      assertThat(run(filter("function f() { return f(); }"), filtered("{}", "{}")))
          .startsWith(isV8 ? "RangeError: " : "InternalError: ");
    }

    @Test
    void a_line_end_in_a_result_is_no_line_of_the_protocol() {
      String design =
          "{\"updates\":{\"u\":\"function() { log('\\\\n"
              + "V5\\\\n"
              + "'); return ['\\\\n"
              + "V5\\\\n"
              + "F', 1]; }\"}}";
      assertThat(run(design, call(Kind.UPDATE, "updates.u", "null", "{}\n")))
          .isEqualTo("[\"\\nV5\\nF\",1]");
      assertThat(run(design, call(Kind.UPDATE, "updates.u", "null", "\r\n{ \n}")))
          .isEqualTo("[\"\\nV5\\nF\",1]");
    }

    /** All that the functions of others get from this child would be one answer late. */
    @Test
    void a_failure_that_a_function_catches_is_not_its_to_change() {
      for (String forged :
          List.of(
              "e.kind = more; throw e;",
              "Object.defineProperty(e, 'kind', {value: more}); throw e;",
              "throw Object.create(e, {kind: {value: more}, parts: {value: []}});",
              "throw new e.constructor(more, []);",
              "e.parts.push = 1; throw Object.setPrototypeOf({kind: more, parts: []},"
                  + " Object.getPrototypeOf(e));",
              "throw new Proxy(e, {get: function() { return more; }});")) {
        String design =
            filter(
                "function() { var more = 'Vtrue\\nVtrue\\nT'; try { require('x'); } catch (e) { "
                    + forged
                    + " } }");
        assertThat(run(design, filtered("{}", "{}"))).as(forged).isNotEqualTo("true");
        assertThat(run(filter("function() { return false; }"), filtered("{}", "{}")))
            .as(forged)
            .isEqualTo("false");
      }
    }

    @Test
    void half_a_surrogate_pair_is_a_replacement_character() {
      String half = "'\\\\ud83d' + '\\\\\\\\ud83d'";
      assertThat(
              run(
                  json("{'views':{'v':{'map':'function() { emit(%s); }'}}}").formatted(half),
                  call(Kind.MAP, "views.v.map", "{}")))
          .isEqualTo("[[\"\\ufffd\\\\ud83d\",null]]");
      assertThat(
              run(
                  json("{'validate_doc_update':'function() { log(%s); throw {forbidden: %s}; }'}")
                      .formatted(half, half),
                  validation()))
          .isEqualTo("forbidden: \ufffd\\ud83d");
    }

    @Test
    void a_child_that_takes_nothing_is_replaced() throws Exception {
      String good = filter("function() { return true; }");
      Call large = filtered("{\"a\":\"" + "x".repeat(1 << 20) + "\"}", "{}");
      List<ProcessHandle> others = ProcessHandle.current().children().toList();
      try (Scripts own = new Scripts(new ScriptSettings(EngineChoice.AUTO, 1, 64, 2, MEMORY))) {
        assertThat(run(own, good, large)).isEqualTo("true");
        for (ProcessHandle child : ProcessHandle.current().children().toList()) {
          if (!others.contains(child)) {
            new ProcessBuilder("kill", "-STOP", String.valueOf(child.pid())).start().waitFor();
          }
        }
        assertThat(run(own, good, large)).isEqualTo("The function filters.f took too much time.");
        assertThat(run(own, good, large)).isEqualTo("true");
      }
    }

    @Test
    void many_documents_are_answered_in_their_order() {
      List<Call> calls =
          IntStream.range(0, 2_000)
              .mapToObj(number -> call(Kind.MAP, "views", "{\"n\":" + number + "}"))
              .toList();
      List<CompletableFuture<Outcome>> outcomes =
          scripts.run(
              Pool.BACKGROUND,
              "db",
              program(json("{'views':{'v':{'map':'function(doc) { emit(doc.n); }'}}}")),
              calls);
      for (int number = 0; number < calls.size(); number++) {
        assertThat(shown(outcomes.get(number))).isEqualTo("[[[" + number + ",null]]]");
      }
    }

    @Test
    void accounts_take_turns() {
      String busy = filter("function() { var end = Date.now() + 5; while (Date.now() < end) {} }");
      List<CompletableFuture<Outcome>> many =
          scripts.run(
              Pool.BACKGROUND,
              "busy",
              program(busy),
              Collections.nCopies(400, filtered("{}", "{}")));
      List<CompletableFuture<Outcome>> one =
          scripts.run(
              Pool.BACKGROUND,
              "other",
              program(filter("function() { return true; }")),
              List.of(filtered("{}", "{}")));
      assertThat(shown(one.get(0))).isEqualTo("true");
      assertThat(many.get(399)).isNotDone();
      many.forEach(call -> call.cancel(false));
    }

    @Test
    void more_design_documents_than_a_child_has_at_a_time_take_turns() {
      List<CompletableFuture<Outcome>> outcomes = new ArrayList<>();
      for (int number = 0; number < 3 * MANY; number++) {
        outcomes.addAll(
            scripts.run(
                Pool.INTERACTIVE,
                "db",
                program(filter("function() { throw {forbidden: " + number % (2 * MANY) + "}; }")),
                List.of(filtered("{}", "{}"))));
      }
      for (int number = 0; number < outcomes.size(); number++) {
        assertThat(shown(outcomes.get(number))).isEqualTo("forbidden: " + number % (2 * MANY));
      }
    }

    @Test
    void documents_of_couchdbs_greatest_size_are_taken_and_larger_ones_refused() {
      String large = "{\"a\":\"" + "x".repeat(8_000_000) + "\"}";
      assertThat(
              run(
                  filter("function(doc) { return doc.a.length === 8000000; }"),
                  filtered(large, "{}")))
          .isEqualTo("true");
      String tooLarge = "{\"a\":\"" + "x".repeat(17 << 20) + "\"}";
      assertThat(run(filter("function(doc) { return true; }"), filtered(tooLarge, "{}")))
          .isEqualTo("The function filters.f takes no documents of more than 16 MB.");
    }

    @Test
    void the_largest_documents_may_be_judged_beside_those_they_replace() {
      String design = "{\"validate_doc_update\":\"function(now, old) { }\"}";
      for (String text : List.of("x".repeat(7_900_000), "€".repeat(2_600_000))) {
        String large = "{\"t\":\"" + text + "\"}";
        Call call = call(Kind.VALIDATE, "validate_doc_update", large, large, "{}", "{}");
        assertThat(run(design, call)).isEqualTo("true");
      }
    }

    @Test
    void an_account_with_much_that_waits_keeps_no_other_from_its_turn() {
      EngineChoice engine = isV8 ? EngineChoice.V8 : EngineChoice.RHINO;
      try (Scripts small = new Scripts(new ScriptSettings(engine, 1, 64, 30, 1_000))) {
        Program program = program(filter("function(doc) { return true; }"));
        Call large = filtered("\"" + "x".repeat(2_000) + "\"", "{}");
        var first = small.run(Pool.INTERACTIVE, "one", program, List.of(large, large));
        var more = small.run(Pool.INTERACTIVE, "one", program, List.of(large));
        var other = small.run(Pool.INTERACTIVE, "other", program, List.of(large));
        var maps = small.run(Pool.BACKGROUND, "one", program, List.of(large));
        var further = small.run(Pool.BACKGROUND, "one", program, List.of(large));
        assertThat(shown(more.get(0))).startsWith("Too many calls");
        for (var each : List.of(first.get(0), first.get(1), other.get(0), maps.get(0))) {
          assertThat(shown(each)).isEqualTo("true");
        }
        assertThat(shown(further.get(0))).isEqualTo("true");
      }
    }

    static String filter(String function) {
      return "{\"filters\":{\"f\":" + new JsonBuffer(64).string(function).toString() + "}}";
    }

    static Call filtered(String doc, String request) {
      return call(Kind.FILTER, "filters.f", doc, request);
    }

    static Call call(Kind kind, String path, String... arguments) {
      return new Call(
          kind,
          List.of(path.split("\\.")),
          Arrays.stream(arguments).map(it -> it.getBytes(StandardCharsets.UTF_8)).toList());
    }

    static Program program(String design) {
      return new Program(design, "db/_design/d", design.getBytes(StandardCharsets.UTF_8));
    }

    final String run(String design, Call call) {
      return run(scripts, design, call);
    }

    static String run(Scripts scripts, String design, Call call) {
      return shown(scripts.run(Pool.INTERACTIVE, "db", program(design), List.of(call)).get(0));
    }

    static String shown(CompletableFuture<Outcome> outcome) {
      Outcome ended = outcome.orTimeout(2, TimeUnit.MINUTES).join();
      if (ended instanceof Value value) {
        return new String(value.json(), StandardCharsets.UTF_8);
      }
      if (ended instanceof Thrown thrown) {
        return thrown.error() + ": " + thrown.reason();
      }
      return ended instanceof NotCompiled bad ? bad.reason() : ((Failed) ended).reason();
    }
  }
}
