package lectus.document.edit;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import lectus.attachment.Attachment;
import lectus.attachment.AttachmentList;
import lectus.attachment.ContentId;
import lectus.attachment.Md5;
import lectus.document.testing.TestDatabase;
import lectus.json.ExplodedBody;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;
import lectus.store.testing.GoldenRows;
import org.junit.jupiter.api.Test;

class RevisionDigestTest {
  @Test
  void order_of_members_and_white_space_do_not_matter() {
    RevisionHash hash = of("1-a", false, "{\"a\":1,\"b\":{\"x\":[1,2],\"y\":null}}");

    assertThat(of("1-a", false, json("{ 'b' : { 'y':null, 'x':[1,2] }, 'a':1 }"))).isEqualTo(hash);
    assertThat(of("1-a", false, json("{'a':7,'b':{'x':[1,2],'y':null},'a':1}"))).isEqualTo(hash);
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
            of("1-a", false, json("{'a':'1'}")),
            of("1-a", false, "{\"a\":1.0}"),
            of("1-a", false, "{\"a\":[1]}"),
            of("1-a", false, "{\"a\":{}}"),
            of("1-a", false, "{\"a\":[]}"),
            of("1-a", false, json("{'a':{'b':1}}")),
            of("1-a", false, json("{'b':{'a':1}}")));

    Set<RevisionHash> distinct = new HashSet<>(hashes);
    assertThat(distinct).hasSameSizeAs(hashes);
  }

  @Test
  void stays_what_it_was() {
    // Stored data and replication partners depend on it. A long string counts as a whole, in
    // however many pieces it is stored.
    Stream<RevisionHash> hashes =
        Stream.of(
            of(null, false, "{\"a\":1}"),
            of("1-967a00dff5e02add41819138abb3284d", true, "{}"),
            of(null, false, "{\"a\":\"" + "x".repeat(250_000) + "\"}"),
            of("1-a", false, "{}"),
            of(
                "1-a",
                false,
                "{\"a\":1}",
                new AttachmentList(
                    List.of(attachment("b", "text/plain", "01"), attachment("a", "", "00")))));

    GoldenRows.of("InteractiveEdit")
        .assertAre(hashes.map(hash -> new KeyValue(new byte[0], hash.bytes())).toList());
  }

  private static Attachment attachment(String name, String type, String md5) {
    return new Attachment(
        name, type, new ContentId("00".repeat(32)), new Md5(md5.repeat(16)), 1, 1, false, 1);
  }

  @Test
  void attachments_count_by_name_type_and_md5_in_any_order() {
    Attachment a = attachment("a", "t", "00");
    Attachment b = attachment("b", "t", "00");
    List<RevisionHash> hashes =
        Stream.of(
                List.<Attachment>of(),
                List.of(a),
                List.of(b),
                List.of(a, b),
                List.of(attachment("a", "u", "00")),
                List.of(attachment("a", "t", "01")))
            .map(all -> of(null, false, "{}", new AttachmentList(all)))
            .toList();

    assertThat(hashes).doesNotHaveDuplicates();
    assertThat(of(null, false, "{}", new AttachmentList(List.of(b, a)))).isEqualTo(hashes.get(3));
    assertThat(of(null, false, "{}", new AttachmentList(List.of(a.at(7)))))
        .isEqualTo(hashes.get(1));
  }

  private RevisionHash of(String parent, boolean deleted, String json) {
    return of(parent, deleted, json, AttachmentList.NONE);
  }

  private RevisionHash of(String parent, boolean deleted, String json, AttachmentList attachments) {
    ExplodedBody body = TestDatabase.edit("a", null, json).body();
    return new InteractiveEdit("a", Optional.empty(), deleted, body)
        .withAttachments(AttachmentEdits.takenOver(attachments))
        .child(Optional.ofNullable(parent).map(RevisionId::of))
        .hash();
  }
}
