package lectus.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the profile release makes: unpacked, looked at and run. Skipped where it made nothing. */
@Timeout(180)
final class ReleaseIT {
  private static final Path PACKAGE = Path.of("target", "lectus_amd64.deb");
  private static final Path IMAGE = Path.of("target", "lectus-image-amd64.tar");

  @TempDir private Path folder;

  private static String output(List<String> command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(command.toString()).isZero();
    return output;
  }

  private static String output(String... command) throws IOException, InterruptedException {
    return output(List.of(command));
  }

  @Test
  void the_package_has_what_its_unit_needs_and_the_libraries_of_one_platform() throws Exception {
    assumeTrue(Files.exists(PACKAGE), "no package was made");
    String content = output("dpkg-deb", "-c", PACKAGE.toString());
    assertThat(content)
        .containsPattern("-rwxr-xr-x root/root .*/usr/bin/lectus\n")
        .containsPattern("-rw------- root/root .*/etc/lectus/lectus.env\n")
        .containsPattern("-rw-r--r-- root/root .*/lib/systemd/system/lectus.service\n")
        .containsPattern("-rw-r--r-- root/root .*/opt/lectus/jvm.options\n")
        .doesNotContain("/var/");
    assertThat(output("dpkg-deb", "-I", PACKAGE.toString(), "conffiles").lines())
        .containsExactlyInAnyOrder("/etc/lectus/lectus.conf", "/etc/lectus/lectus.env");
    assertThat(output("dpkg-deb", "-f", PACKAGE.toString(), "Architecture").strip())
        .isEqualTo("amd64");
    output("dpkg-deb", "-x", PACKAGE.toString(), folder.toString());
    Path jar = folder.resolve("opt/lectus/lectus.jar");
    try (JarFile packed = new JarFile(jar.toFile())) {
      assertThat(packed.stream().map(JarEntry::getName))
          .filteredOn(name -> name.startsWith("librocksdbjni"))
          .containsExactly("librocksdbjni-linux64.so");
    }
    assertThat(Files.size(jar)).isLessThan(60_000_000);
  }

  @Test
  void the_image_has_layers_with_the_modes_that_any_user_needs_and_its_runtime_serves()
      throws Exception {
    assumeTrue(Files.exists(IMAGE), "no image was made");
    output("tar", "-xf", IMAGE.toString(), "-C", folder.toString());
    JsonObject index = new JsonObject(Files.readString(folder.resolve("index.json")));
    JsonObject manifest = blob(index.getJsonArray("manifests").getJsonObject(0));
    JsonObject image = blob(manifest.getJsonObject("config"));
    JsonObject config = image.getJsonObject("config");
    assertThat(image.getString("architecture")).isEqualTo("amd64");
    assertThat(config.getString("User")).isEqualTo("5984:0");
    assertThat(texts(config, "Entrypoint")).containsExactly("lectus");
    assertThat(texts(config, "Cmd")).containsExactly("serve");
    List<String> same = new ArrayList<>();
    Dockerfile.read().environment().forEach((name, value) -> same.add(name + "=" + value));
    same.removeIf(it -> it.startsWith("ROCKSDB_"));
    assertThat(texts(config, "Env")).containsAll(same);
    assertThat(config.getJsonObject("Labels").fieldNames())
        .contains("org.opencontainers.image.version", "org.opencontainers.image.licenses");
    StringBuilder content = new StringBuilder();
    Path root = Files.createDirectory(folder.resolve("root"));
    for (Object layer : manifest.getJsonArray("layers")) {
      String file = file((JsonObject) layer).toString();
      content.append(output("tar", "-tvzf", file));
      output("tar", "-xzf", file, "-C", root.toString());
    }
    assertThat(content.toString())
        .containsPattern("drwxrwx--- 0/0 .* var/lib/lectus/data/\n")
        .containsPattern("drwxr-xr-x 0/0 .* var/lib/lectus/\n")
        .containsPattern("-rwxr-xr-x 0/0 .* usr/bin/lectus\n")
        .containsPattern("-rwxr-xr-x 0/0 .* opt/java/bin/java\n")
        .containsPattern("-rw-r--r-- 0/0 .* opt/lectus/lectus.jar\n")
        .doesNotContain(" app/");
    assertServes(root);
  }

  private static List<String> texts(JsonObject config, String member) {
    return config.getJsonArray(member).stream().map(String.class::cast).toList();
  }

  private Path file(JsonObject described) {
    return folder.resolve("blobs/" + described.getString("digest").replace(':', '/'));
  }

  private JsonObject blob(JsonObject described) throws IOException {
    return new JsonObject(Files.readString(file(described)));
  }

  private void assertServes(Path root) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(root.resolve("opt/java/bin/java").toString());
    command.add("@" + root.resolve("opt/lectus/jvm.options"));
    command.addAll(List.of("-Xmx128m", "-jar", root.resolve("opt/lectus/lectus.jar").toString()));
    command.addAll(List.of("serve", "--port", "0", "--data", folder.resolve("data").toString()));
    Process server = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (var lines = server.inputReader()) {
      assertThat(lines.readLine()).startsWith("Lectus listens on http://127.0.0.1:");
      server.toHandle().destroy();
      assertThat(lines.lines()).last().isEqualTo("Lectus has stopped");
    } finally {
      server.destroyForcibly();
    }
  }
}
