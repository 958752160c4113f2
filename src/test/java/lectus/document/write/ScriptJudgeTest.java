package lectus.document.write;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import lectus.audit.testing.SoundStore;
import lectus.document.read.DesignPrograms;
import lectus.document.testing.TestDatabase;
import lectus.document.write.WriteRules.EditRule;
import lectus.error.LectusError;
import lectus.script.Scripts;
import lectus.script.Scripts.ScriptSettings;
import lectus.script.Scripts.ScriptSettings.EngineChoice;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Several functions of one database, in children. */
final class ScriptJudgeTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static String refusing(String member) {
    return "{\"validate_doc_update\":\"function(newDoc) { if (newDoc."
        + member
        + ") throw({forbidden: '"
        + member
        + "'}); }\"}";
  }

  @Test
  void documents_that_take_more_memory_than_calls_may_are_judged_by_all() {
    TestDatabase plain = TestDatabase.create(stores.fresh());
    try (Scripts scripts = new Scripts(new ScriptSettings(EngineChoice.AUTO, 1, 64, 10, 1_000))) {
      DesignPrograms programs = new DesignPrograms(plain.transactions, 1 << 20);
      TestDatabase database =
          plain.writtenBy(
              new DocumentWriter(
                  plain.store,
                  plain.catalogue,
                  new WriteRules(false, EditRule.NONE, new ScriptJudge(programs, scripts))));
      database.put("_design/a", refusing("a"));
      database.put("_design/b", refusing("b"));
      String large = "\"x\":\"" + "x".repeat(2_000) + "\"}";
      List<EditOutcome> outcomes =
          database.write(
              List.of(
                  TestDatabase.edit("1", null, "{" + large),
                  TestDatabase.edit("2", null, "{\"a\":1," + large),
                  TestDatabase.edit("3", null, "{\"b\":1," + large)));
      TestDatabase.written(outcomes.get(0));
      assertThat(TestDatabase.error(outcomes.get(1))).isEqualTo(new LectusError.Forbidden("a"));
      assertThat(TestDatabase.error(outcomes.get(2))).isEqualTo(new LectusError.Forbidden("b"));
    }
  }
}
