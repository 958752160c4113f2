package lectus.replication;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.replication.ReplicationRequest.Defaults;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class ReplicationIdTest {
  /** The first line has the uuid of the CouchDB that has given these ids. */
  private static final Path RECORDED =
      Path.of("src/test/resources/replication/ids-of-couchdb-3.5.0.txt");

  private static final int DIGITS = 32;

  private static ReplicationRequest request(String json) {
    JsonObject body = (JsonObject) JsonValue.parse(json.getBytes(StandardCharsets.UTF_8));
    return ReplicationRequest.parse(body, Defaults.OF_COUCHDB);
  }

  static Stream<String> recorded() throws IOException {
    return Files.readAllLines(RECORDED).stream().skip(1);
  }

  @ParameterizedTest
  @MethodSource("recorded")
  void couchdb_has_given_the_same_id(String line) throws IOException {
    List<String> all = Files.readAllLines(RECORDED);
    ReplicationRequest request = request(line.substring(DIGITS + 1));

    ReplicationId id = ReplicationId.of(request, all.get(0), Optional.empty());

    assertThat(id).hasToString(line.substring(0, DIGITS));
  }

  @Test
  void what_does_not_concern_checkpoints_stands_behind_it() {
    String ends = "{\"source\":\"a\",\"target\":\"b\"";
    String more = ends + ",\"continuous\":true,\"create_target\":true}";

    assertThat(ReplicationId.of(request(more), "u", Optional.empty()))
        .isEqualTo(
            new ReplicationId(
                ReplicationId.of(request(ends + "}"), "u", Optional.empty()).base(),
                "+continuous+create_target"));
  }
}
