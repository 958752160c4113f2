package lectus.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.http.testing.Request;
import lectus.store.testing.Await;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the profile release makes: unpacked, looked at and run. Skipped where it made nothing. */
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
        .containsPattern("-rw-r--r-- root/root .*/lib/systemd/system/lectus-backup.service\n")
        .containsPattern("-rw-r--r-- root/root .*/lib/systemd/system/lectus-backup.timer\n")
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
      assertThat(packed.stream().map(JarEntry::getName))
          .filteredOn(name -> name.startsWith("libjavet"))
          .singleElement()
          .asString()
          .startsWith("libjavet-v8-linux-x86_64");
    }
    assertThat(Files.size(jar)).isLessThan(75_000_000);
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
    try (Group group = Group.of(256 << 20)) {
      assertServesWithin(group, root);
    }
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

  /** As the image starts it: by its launcher, its runtime and its options. */
  private void assertServesWithin(Group group, Path root) throws Exception {
    String launcher =
        Files.readString(root.resolve("usr/bin/lectus"))
            .replace("/opt/lectus", root.resolve("opt/lectus").toString());
    List<String> command = new ArrayList<>(List.of("sh", "-c", group.entering() + launcher));
    command.addAll(List.of("lectus", "serve", "--port", "0", "--data"));
    command.add(folder.resolve("data").toString());
    Path log = folder.resolve("log");
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("JAVA_HOME", root.resolve("opt/java").toString());
    builder.environment().put("LECTUS_HTTP_HOSTS", "host");
    Process server = builder.redirectOutput(log.toFile()).start();
    try {
      Await.until("it listens", () -> !server.isAlive() || said(log).contains("Memory: "));
      assertThat(said(log)).startsWith("Lectus listens on http://127.0.0.1:");
      if (group.isMade()) {
        assertThat(said(log)).contains(" of 256 MB").doesNotContain("too little memory");
        load(Integer.parseInt(said(log).replaceAll("(?s)^.*?1:(\\d+)/.*", "$1")));
        assertThat(group.kills()).isZero();
      }
      server.toHandle().destroy();
      assertThat(server.waitFor()).as(() -> said(log)).isEqualTo(128 + 15);
      assertThat(said(log)).endsWith("Lectus has stopped\n");
    } finally {
      server.destroyForcibly().waitFor();
    }
    assumeTrue(group.isMade(), "no group of processes with a limit of memory can be made here");
  }

  private static String said(Path log) {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Four clients do what takes memory, and may be told to come later. */
  private static void load(int port) {
    new Request(port, "PUT", "/w").send();
    String bulk =
        IntStream.range(0, 500)
            .mapToObj(i -> "{\"v\":" + i + ",\"t\":\"" + "x".repeat(1_000) + "\"}")
            .collect(Collectors.joining(",", "{\"docs\":[", "]}"));
    String large = "{\"v\":[" + "1,".repeat(200_000) + "\"" + "y".repeat(4_000_000) + "\"]}";
    byte[] attachment = new byte[10_000_000];
    new Random(1).nextBytes(attachment);
    IntStream.range(0, 4)
        .parallel()
        .forEach(
            client -> {
              for (int i = client; i < 12; i += 4) {
                List<Request> requests =
                    List.of(
                        new Request(port, "POST", "/w/_bulk_docs").json(bulk),
                        new Request(port, "PUT", "/w/l" + i).json(large),
                        new Request(port, "PUT", "/w/a" + i + "/f").body(attachment),
                        new Request(port, "GET", "/w/a" + i + "/f"),
                        new Request(port, "GET", "/w/_all_docs?include_docs=true&limit=5000"),
                        new Request(port, "POST", "/w/_find").json("{\"selector\":{\"v\":7}}"));
                requests.forEach(it -> assertThat(status(it)).isIn(200, 201, 404, 503));
              }
            });
  }

  /** An answer that has begun ends early where there is no memory for its next rows. */
  private static int status(Request request) {
    try {
      return request.send().status();
    } catch (UncheckedIOException cut) {
      return 503;
    }
  }

  /**
   * Processes that may have so much memory together, as those of a container (version 1 of Linux's
   * control groups).
   *
   * @param folder empty if none can be made
   */
  private record Group(Optional<Path> folder) implements AutoCloseable {
    static Group of(long bytes) throws IOException {
      Path all = Path.of("/sys/fs/cgroup/memory");
      if (!Files.isWritable(all.resolve("cgroup.procs"))) {
        return new Group(Optional.empty());
      }
      Path made = Files.createDirectory(all.resolve("lectus-" + ProcessHandle.current().pid()));
      Files.writeString(made.resolve("memory.limit_in_bytes"), Long.toString(bytes));
      return new Group(Optional.of(made));
    }

    boolean isMade() {
      return folder.isPresent();
    }

    /** Returns the beginning of a script that enters it. */
    String entering() {
      return folder.map(it -> "echo $$ >" + it + "/cgroup.procs\n").orElse("");
    }

    long kills() throws IOException {
      return Files.readAllLines(folder.orElseThrow().resolve("memory.oom_control")).stream()
          .filter(line -> line.startsWith("oom_kill "))
          .mapToLong(line -> Long.parseLong(line.substring(9)))
          .sum();
    }

    @Override
    public void close() throws IOException {
      if (isMade()) {
        Files.delete(folder.orElseThrow());
      }
    }
  }
}
