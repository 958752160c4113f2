package lectus.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.ibm.cloud.cloudant.features.ChangesFollower;
import com.ibm.cloud.cloudant.security.CouchDbSessionAuthenticator;
import com.ibm.cloud.cloudant.v1.Cloudant;
import com.ibm.cloud.cloudant.v1.model.Attachment;
import com.ibm.cloud.cloudant.v1.model.BulkDocs;
import com.ibm.cloud.cloudant.v1.model.BulkGetQueryDocument;
import com.ibm.cloud.cloudant.v1.model.ChangesResultItem;
import com.ibm.cloud.cloudant.v1.model.DeleteAttachmentOptions;
import com.ibm.cloud.cloudant.v1.model.Document;
import com.ibm.cloud.cloudant.v1.model.DocumentResult;
import com.ibm.cloud.cloudant.v1.model.GetAttachmentOptions;
import com.ibm.cloud.cloudant.v1.model.GetDocumentOptions;
import com.ibm.cloud.cloudant.v1.model.HeadAttachmentOptions;
import com.ibm.cloud.cloudant.v1.model.IndexDefinition;
import com.ibm.cloud.cloudant.v1.model.IndexField;
import com.ibm.cloud.cloudant.v1.model.PostBulkDocsOptions;
import com.ibm.cloud.cloudant.v1.model.PostBulkGetOptions;
import com.ibm.cloud.cloudant.v1.model.PostChangesOptions;
import com.ibm.cloud.cloudant.v1.model.PostFindOptions;
import com.ibm.cloud.cloudant.v1.model.PostIndexOptions;
import com.ibm.cloud.cloudant.v1.model.PutAttachmentOptions;
import com.ibm.cloud.cloudant.v1.model.PutDatabaseOptions;
import com.ibm.cloud.cloudant.v1.model.PutDocumentOptions;
import com.ibm.cloud.sdk.core.http.Response;
import com.ibm.cloud.sdk.core.service.exception.ConflictException;
import com.ibm.cloud.sdk.core.service.exception.NotFoundException;
import com.ibm.cloud.sdk.core.service.exception.ServiceResponseException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import lectus.account.Admins;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.lightcouch.Changes;
import org.lightcouch.CouchDbClient;
import org.lightcouch.DocumentConflictException;

/** Clients written in Java: Cloudant's SDK and LightCouch. */
final class CloudantTest {
  /** Cloudant's Java SDK, logged in with a session. */
  @Nested
  class CloudantSdk {
    private static final String DB = "sdk";
    private static final String BINARY = "application/octet-stream";

    /** Several chunks of the store. */
    private static final int LONG = 1_000_000;

    @RegisterExtension static final TestStores stores = SoundStore.stores();

    @AutoClose private LectusServer server;
    private Cloudant client;

    @BeforeEach
    void start() {
      Store store = stores.fresh();
      new Admins(store).put("root", Admins.hashOf("secret", 10));
      server = LectusServer.start(store, new TestSettings());
      client = as("root", "secret");
      client.putDatabase(new PutDatabaseOptions.Builder(DB).build()).execute();
    }

    private Cloudant as(String name, String password) {
      Cloudant cloudant =
          new Cloudant("test", CouchDbSessionAuthenticator.newAuthenticator(name, password));
      cloudant.setServiceUrl(server.url());
      return cloudant;
    }

    private static byte[] bytes(int length) {
      byte[] bytes = new byte[length];
      new Random(length).nextBytes(bytes);
      return bytes;
    }

    private DocumentResult put(Document document) {
      return client
          .putDocument(
              new PutDocumentOptions.Builder(DB, document.getId()).document(document).build())
          .execute()
          .getResult();
    }

    private static Document document(String id, Map<String, Object> fields) {
      Document document = new Document();
      document.setId(id);
      document.setProperties(fields);
      return document;
    }

    private byte[] attachment(String id, String name) throws IOException {
      GetAttachmentOptions which = new GetAttachmentOptions.Builder(DB, id, name).build();
      try (InputStream in = client.getAttachment(which).execute().getResult()) {
        return in.readAllBytes();
      }
    }

    @Test
    void a_wrong_password_opens_no_session() {
      Cloudant stranger = as("root", "wrong");
      assertThatThrownBy(() -> stranger.getAllDbs().execute())
          .isInstanceOf(ServiceResponseException.class)
          .hasMessageContaining("Name or password is incorrect.");
      assertThat(client.getSessionInformation().execute().getResult().getUserCtx().name())
          .isEqualTo("root");
    }

    @Test
    void attachments_are_put_and_got_and_deleted() throws IOException {
      byte[] bytes = bytes(LONG);
      String first = put(document("a", Map.of("n", 1))).getRev();
      DocumentResult stored =
          client
              .putAttachment(
                  new PutAttachmentOptions.Builder(
                          DB, "a", "photo", new ByteArrayInputStream(bytes), BINARY)
                      .rev(first)
                      .build())
              .execute()
              .getResult();

      assertThat(stored.isOk()).isTrue();
      assertThat(attachment("a", "photo")).isEqualTo(bytes);
      Response<Void> head =
          client
              .headAttachment(new HeadAttachmentOptions.Builder(DB, "a", "photo").build())
              .execute();
      // The SDK compresses what it sends.
      assertThat(head.getHeaders().values("Content-Encoding")).containsExactly("gzip");
      DeleteAttachmentOptions old =
          new DeleteAttachmentOptions.Builder(DB, "a", "photo").rev(first).build();
      assertThatThrownBy(() -> client.deleteAttachment(old).execute())
          .isInstanceOf(ConflictException.class);
      client.deleteAttachment(old.newBuilder().rev(stored.getRev()).build()).execute();
      assertThatThrownBy(() -> attachment("a", "photo")).isInstanceOf(NotFoundException.class);
    }

    @Test
    void documents_bring_attachments_and_show_them_in_all_forms() throws IOException {
      byte[] text = "text of the attachment".repeat(100).getBytes(StandardCharsets.UTF_8);
      Document document = document("b", Map.of("n", 2));
      document.setAttachments(
          Map.of(
              "t",
              new Attachment.Builder().contentType("text/plain").data(text).build(),
              "raw",
              new Attachment.Builder().contentType(BINARY).data(bytes(5_000)).build()));
      put(document);

      GetDocumentOptions asked = new GetDocumentOptions.Builder(DB, "b").attachments(true).build();
      Document inline = client.getDocument(asked).execute().getResult();
      assertThat(inline.getAttachments().get("t").data()).isEqualTo(text);
      assertThat(inline.getAttachments().get("raw").data()).isEqualTo(bytes(5_000));
      try (InputStream related = client.getDocumentAsRelated(asked).execute().getResult()) {
        assertThat(latin1(related.readAllBytes()))
            .contains("\"follows\":true", latin1(bytes(5_000)));
      }
      PostBulkGetOptions bulk =
          new PostBulkGetOptions.Builder(DB, List.of(new BulkGetQueryDocument.Builder("b").build()))
              .attachments(true)
              .build();
      try (InputStream mixed = client.postBulkGetAsMixed(bulk).execute().getResult()) {
        assertThat(latin1(mixed.readAllBytes())).contains(latin1(bytes(5_000)));
      }
      Document again =
          client
              .postBulkGet(bulk)
              .execute()
              .getResult()
              .getResults()
              .get(0)
              .getDocs()
              .get(0)
              .getOk();
      assertThat(again.getAttachments().get("t").data()).isEqualTo(text);
    }

    private static String latin1(byte[] bytes) {
      return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    @Test
    void what_was_written_in_bulk_is_followed_and_found() {
      IndexField field = new IndexField.Builder().add("n", "asc").build();
      client
          .postIndex(
              new PostIndexOptions.Builder(
                      DB, new IndexDefinition.Builder().addFields(field).build())
                  .build())
          .execute();
      List<Document> documents =
          IntStream.range(0, 1_000)
              .mapToObj(n -> document("d" + n, Map.of("n", n, "kind", n % 2 == 0 ? "even" : "odd")))
              .toList();
      List<DocumentResult> written =
          client
              .postBulkDocs(
                  new PostBulkDocsOptions.Builder(DB)
                      .bulkDocs(new BulkDocs.Builder(documents).build())
                      .build())
              .execute()
              .getResult();
      assertThat(written).hasSize(1_000).allMatch(DocumentResult::isOk);

      PostChangesOptions changes = new PostChangesOptions.Builder(DB).includeDocs(true).build();
      try (Stream<ChangesResultItem> all = new ChangesFollower(client, changes).startOneOff()) {
        assertThat(all.filter(it -> it.getDoc().getProperties().containsKey("kind")))
            .hasSize(1_000);
      }
      assertFollowed(changes.newBuilder().since("0").build());
      assertFound();
    }

    /** A live feed has no end of its own. */
    private void assertFollowed(PostChangesOptions changes) {
      ChangesFollower follower = new ChangesFollower(client, changes);
      try (Stream<ChangesResultItem> live = follower.start()) {
        List<String> last =
            live.map(ChangesResultItem::getId)
                .peek(
                    id -> {
                      if (id.equals("d999")) {
                        put(document("later", Map.of("n", -1)));
                      }
                    })
                .dropWhile(id -> !id.equals("later"))
                .limit(1)
                .toList();
        assertThat(last).containsExactly("later");
      } finally {
        follower.stop();
      }
    }

    private void assertFound() {
      Map<String, Object> selector = Map.of("n", Map.of("$gte", 10, "$lt", 20), "kind", "even");
      List<Document> found =
          client
              .postFind(
                  new PostFindOptions.Builder(DB, selector)
                      .addSort(Map.of("n", "desc"))
                      .limit(3)
                      .build())
              .execute()
              .getResult()
              .getDocs();
      assertThat(found).extracting(Document::getId).containsExactly("d18", "d16", "d14");
    }
  }

  /** LightCouch, which reads a live feed line by line through Apache's client and its inflater. */
  @Nested
  class LightCouch {
    @RegisterExtension static final TestStores stores = new TestStores();

    @Test
    void documents_and_a_live_feed() {
      try (LectusServer server = LectusServer.start(stores.fresh())) {
        URI url = URI.create(server.url());
        CouchDbClient client =
            new CouchDbClient("light", true, "http", url.getHost(), url.getPort(), null, null);
        org.lightcouch.Response first = client.save(Map.of("_id", "a", "n", 1));
        assertThatThrownBy(() -> client.save(Map.of("_id", "a")))
            .isInstanceOf(DocumentConflictException.class);
        assertThat(client.changes().includeDocs(true).getChanges().getResults()).hasSize(1);

        String since = client.context().info().getUpdateSeq();
        Changes live = client.changes().includeDocs(true).since(since).continuousChanges();
        client.update(Map.of("_id", "a", "_rev", first.getRev(), "n", 2));
        assertThat(live.hasNext()).isTrue();
        assertThat(live.next().getDoc().get("n").getAsInt()).isEqualTo(2);
        live.stop();
        client.shutdown();
      }
    }
  }
}
