package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.http.exchange.BodyDeadlines.Pace;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Bodies that do not arrive, or too slowly, second by second. */
final class SlowBodyTest {
  private static final int GRACE = 3;

  @RegisterExtension static final TestStores stores = new TestStores();

  @AutoClose
  private final LectusServer server =
      LectusServer.start(stores.fresh(), new TestSettings().slowBodySeconds(1));

  private boolean othersWait;

  private final Pace pace = new Pace(GRACE, () -> othersWait, () -> {});

  @BeforeEach
  void create() {
    server.put("/w");
  }

  private Connection begin(String id, int length) {
    return server.request("PUT", "/w/" + id, "Content-Length", "" + length).open();
  }

  @Test
  void a_body_that_stops_coming_is_408_and_its_connection_ends() {
    try (Connection client = begin("a", 100)) {
      Answer answer = client.write("{\"v\":").read(false).expect(408);
      assertThat(answer.header("connection")).isEqualTo("close");
      answer.expect(
          "{\"error\":\"request_timeout\","
              + "\"reason\":\"The request's body arrives too slowly.\"}\n");
      assertThat(client.isAtEnd()).isTrue();
    }
    server.get("/w/a").expect(404);
  }

  /** It has sent enough for an hour before it pauses for longer than the grace period. */
  @Test
  void one_that_has_come_fast_enough_may_rest() {
    String begun = "{\"v\":\"" + "x".repeat(3_600 * Pace.MIN_RATE);
    try (Connection client = begin("b", begun.length() + 2);
        Connection silent = begin("a", 100)) {
      client.write(begun);
      silent.read(false).expect(408);

      client.write("\"}").read(false).expect(201);
    }
  }

  private boolean isTooSlowAfter(int seconds) {
    for (int second = 1; second < seconds; second++) {
      assertThat(pace.isTooSlow()).as("after %d s", second).isFalse();
    }
    return pace.isTooSlow();
  }

  @Test
  void nothing_at_all_is_too_slow_behind_the_grace() {
    assertThat(isTooSlowAfter(GRACE + 1)).isTrue();
  }

  @Test
  void what_came_in_the_grace_counts() {
    pace.arrived(5 * Pace.MIN_RATE);

    assertThat(isTooSlowAfter(GRACE + 6)).isTrue();
  }

  @Test
  void one_that_was_fast_rests_for_five_minutes_and_not_longer() {
    pace.arrived(1 << 30);

    assertThat(isTooSlowAfter(Pace.LONGEST_REST_SECONDS + 1)).isTrue();
  }

  @Test
  void the_least_rate_is_enough_and_a_byte_less_is_not() {
    pace.arrived(Pace.MIN_RATE);
    for (int second = 0; second < 100; second++) {
      assertThat(pace.isTooSlow()).isFalse();
      pace.arrived(second < GRACE ? 0 : Pace.MIN_RATE);
    }
    Pace slower = new Pace(GRACE, () -> othersWait, () -> {});
    slower.arrived(Pace.MIN_RATE - 1);
    for (int second = 0; second < GRACE; second++) {
      assertThat(slower.isTooSlow()).isFalse();
    }
    assertThat(slower.isTooSlow()).isTrue();
  }

  @Test
  void while_others_wait_for_its_memory_it_has_to_come_faster() {
    othersWait = true;
    for (int second = 0; second < 10; second++) {
      pace.arrived(Pace.RATE_BEFORE_OTHERS);
      assertThat(pace.isTooSlow()).isFalse();
    }
    for (int second = 0; second < Pace.SECONDS_BEFORE_OTHERS; second++) {
      pace.arrived(Pace.RATE_BEFORE_OTHERS - 1);
      assertThat(pace.isTooSlow()).isFalse();
    }
    othersWait = false;
    assertThat(pace.isTooSlow()).isFalse();
    othersWait = true;
    assertThat(isTooSlowAfter(Pace.SECONDS_BEFORE_OTHERS + 1)).isTrue();
  }
}
