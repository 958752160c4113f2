package lectus.document.write;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.document.testing.TestDatabase;
import lectus.json.ExplodedBody;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;
import org.junit.jupiter.api.Test;

class RevisionDigestTest {
  private final RevisionDigest digest = new RevisionDigest();

  @Test
  void order_of_members_and_white_space_do_not_matter() {
    RevisionHash hash = of("1-a", false, "{\"a\":1,\"b\":{\"x\":[1,2],\"y\":null}}");

    assertThat(of("1-a", false, "{ \"b\" : { \"y\":null, \"x\":[1,2] }, \"a\":1 }"))
        .isEqualTo(hash);
    assertThat(of("1-a", false, "{\"a\":7,\"b\":{\"x\":[1,2],\"y\":null},\"a\":1}"))
        .isEqualTo(hash);
  }

  @Test
  void zero_has_no_sign() {
    assertThat(of("1-a", false, "{\"a\":[-0.0,-0e1]}"))
        .isEqualTo(of("1-a", false, "{\"a\":[0.0,0.0]}"));
  }

  @Test
  void whatever_else_differs_makes_another_hash() {
    List<RevisionHash> hashes =
        List.of(
            of(null, false, "{}"),
            of(null, true, "{}"),
            of("1-a", false, "{}"),
            of("2-a", false, "{}"),
            of("1-b", false, "{}"),
            of("1-00000000000000000000000000000061", false, "{}"),
            of("1-a", true, "{}"),
            of("1-a", false, "{\"a\":1}"),
            of("1-a", false, "{\"a\":\"1\"}"),
            of("1-a", false, "{\"a\":1.0}"),
            of("1-a", false, "{\"a\":[1]}"),
            of("1-a", false, "{\"a\":{}}"),
            of("1-a", false, "{\"a\":[]}"),
            of("1-a", false, "{\"a\":{\"b\":1}}"),
            of("1-a", false, "{\"b\":{\"a\":1}}"));

    Set<RevisionHash> distinct = new HashSet<>(hashes);
    assertThat(distinct).hasSameSizeAs(hashes);
  }

  @Test
  void stays_what_it_was() {
    // Stored data and replication partners depend on it.
    assertThat(of(null, false, "{\"a\":1}")).hasToString("9c84629de294e7db498aa1e60051dd13");
    assertThat(of("1-967a00dff5e02add41819138abb3284d", true, "{}"))
        .hasToString("a78e3ac7d35752819e9a61245ec520ba");
    // Of a long string the whole counts, in however many pieces it is stored.
    assertThat(of(null, false, "{\"a\":\"" + "x".repeat(250_000) + "\"}"))
        .hasToString("f74cc36af430e613bc19fbea2320df0f");
    assertThat(of("1-a", false, "{}")).hasToString("87a2fc5cf5bc1a7965d8efe418d460b6");
  }

  private RevisionHash of(String parent, boolean deleted, String json) {
    ExplodedBody body = TestDatabase.edit("a", null, json).body();
    return digest.of(Optional.ofNullable(parent).map(RevisionId::of), deleted, body);
  }
}
