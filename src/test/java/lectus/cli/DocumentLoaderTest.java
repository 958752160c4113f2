package lectus.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import lectus.cli.SampleCommand.DocumentLoader;
import lectus.http.testing.LectusServer;
import lectus.json.JsonBuffer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class DocumentLoaderTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final List<Integer> told = new ArrayList<>();
  @AutoClose private final LectusServer server = LectusServer.start(stores.fresh());

  private DocumentLoader.Loaded load(String target) throws IOException {
    return load(target, 3);
  }

  private DocumentLoader.Loaded load(String target, int documents) throws IOException {
    return new DocumentLoader(
            ServerUrl.of(
                URI.create(server.url() + target), Optional.empty(), name -> Optional.empty()),
            told::add)
        .load(IntStream.range(0, documents), DocumentLoaderTest::write);
  }

  private static void write(JsonBuffer batch, int number) {
    batch.ascii("{\"_id\":\"" + number + "\"}");
  }

  @Test
  void documents_are_loaded_into_a_database_that_is_there_or_not() throws IOException {
    assertThat(load("/numbers")).isEqualTo(new DocumentLoader.Loaded(3, 0));
    assertThat(load("/numbers")).isEqualTo(new DocumentLoader.Loaded(3, 3));
    assertThat(server.get("/numbers").body()).contains("\"doc_count\":3,");
  }

  @Test
  void it_tells_how_many_documents_were_sent() throws IOException {
    assertThat(load("/numbers", 2_500).documents()).isEqualTo(2_500);
    assertThat(told).containsExactly(1_000, 2_000);
  }

  @Test
  void a_server_that_refuses_the_database_is_quoted() {
    assertThatThrownBy(() -> load("/")).isInstanceOf(IOException.class).hasMessageContaining("405");
    assertThatThrownBy(() -> load("/NO"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("illegal_database_name");
  }
}
