package lectus.script;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lectus.script.Outcome.NotCompiled;
import lectus.script.Outcome.Thrown;
import lectus.script.Outcome.Value;
import lectus.script.Scripts.Pool;
import lectus.script.Scripts.ScriptSettings;
import lectus.script.Scripts.ScriptSettings.EngineChoice;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

final class ScriptsTest {
  private static final Scripts SCRIPTS =
      new Scripts(new ScriptSettings(EngineChoice.AUTO, 1, 64, 2, 64 << 20));

  @AfterAll
  static void end() {
    SCRIPTS.close();
  }

  @Test
  void a_map_emits_rows() {
    assertThat(
            run(
                "{\"views\":{\"b\":{\"map\":\"function(doc){ emit(doc.type, 1) };\"},"
                    + "\"lib\":{},\"1\":{\"map\":\"doc => { emit([doc._id]); }\"}}}",
                new Call(Kind.MAP, List.of("views"), json("{\"_id\":\"a\",\"type\":\"t\"}"))))
        .isEqualTo("[[[\"t\",1]],[[[\"a\"],null]]]");
  }

  @Test
  void what_a_validation_throws_is_its_verdict() {
    String design =
        "{\"validate_doc_update\":\"function(doc, old, user, security) {"
            + " if (user.name !== 'bob') throw {forbidden: 'only bob'}; }\"}";
    assertThat(run(design, validation("{}", "null", "{\"name\":\"bob\"}", "{}"))).isEqualTo("true");
    assertThat(run(design, validation("{}", "null", "{\"name\":\"eve\"}", "{}")))
        .isEqualTo("Thrown[error=forbidden, reason=only bob]");
  }

  private static Call validation(String... arguments) {
    return new Call(Kind.VALIDATE, List.of("validate_doc_update"), json(arguments));
  }

  private static List<byte[]> json(String... texts) {
    return Arrays.stream(texts).map(it -> it.getBytes(StandardCharsets.UTF_8)).toList();
  }

  private static String run(String design, Call call) {
    List<CompletableFuture<Outcome>> outcomes =
        SCRIPTS.run(
            Pool.INTERACTIVE,
            "db",
            new Program(design, design.getBytes(StandardCharsets.UTF_8)),
            List.of(call));
    Outcome outcome = outcomes.get(0).join();
    if (outcome instanceof Value value) {
      return new String(value.json(), StandardCharsets.UTF_8);
    }
    assertThat(outcome).isInstanceOfAny(Thrown.class, NotCompiled.class, Outcome.Failed.class);
    return outcome.toString();
  }
}
