package lectus.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The compose files as those who specify such files would read them. */
@Timeout(60)
final class ComposeSchemaTest {
  private static ComposeSchema schema;

  @BeforeAll
  static void install() throws IOException, InterruptedException {
    schema = ComposeSchema.install();
  }

  @ParameterizedTest
  @ValueSource(strings = {"compose.single.yaml", "compose.yaml"})
  void they_follow_the_schema(String name) throws IOException {
    Yaml compose = new ComposeFile(name).yaml();

    assertThat(schema.complaints(compose)).isEmpty();
    assertThat(compose.at("name").text()).matches("[a-z][a-z-]*");
  }

  @Test
  void the_schema_refuses_what_it_does_not_know() {
    Yaml compose = Yaml.of("services: {lectus: {image: lectus, volums: [data:/data]}}");

    assertThat(schema.complaints(compose)).isNotEmpty();
  }
}
