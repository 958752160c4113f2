package lectus.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * {@code lectus archive}: trains a server of a store of its own, and keeps what the JVM has learnt.
 * From JDK 25 on these are loaded and linked classes and profiles of methods (the AOT cache), with
 * earlier ones parsed and verified classes (CDS). The JVM itself checks that a file fits its
 * version and the jar, and goes on without one that does not.
 */
@Command(
    name = "archive",
    description = {
      "Trains a server and writes a file with which later ones start in half the time:",
      "-XX:AOTCache=FILE from JDK 25 on, -XX:SharedArchiveFile=FILE before.",
      "A new jar or a new JDK needs a new file; with an old one a start takes longer."
    },
    mixinStandardHelpOptions = true)
public final class ArchiveCommand implements Callable<Integer> {
  private static final int FAILED = 1;
  private static final int FIRST_WITH_CACHE = 25;
  private static final Pattern LISTENING = Pattern.compile("Lectus listens on (http://\\S+)/");

  /** Flags for which file is read or written, or where the JVM's own lines go. */
  private static final Pattern NOT_PASSED_ON =
      Pattern.compile(
          "-(XX:(SharedArchiveFile|ArchiveClasses|AOT).*|X(share|log).*|agent.*|javaagent.*)");

  private static final Duration START = Duration.ofSeconds(60);
  private static final Duration ANSWER = Duration.ofSeconds(10);

  /** A JVM that ends writes the file. */
  private static final Duration END = Duration.ofMinutes(3);

  private static final long LOOK_MILLIS = 50;

  /** How many times each frequent request is sent. */
  private static final int ROUNDS = 1_500;

  /** The JVM's own lines, such as those of a file that does not fit, are not a server's first. */
  private static final String QUIET = "-Xlog:disable -Xlog:all=warning:stderr ";

  private final Console console;

  @Parameters(index = "0", paramLabel = "FILE", description = "Replaced if it is there.")
  private Path file;

  public ArchiveCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    String jar = System.getProperty("java.class.path");
    if (!Files.isRegularFile(Path.of(jar))) {
      console.complain(
          "Only a server in a jar has an archive (java -jar lectus.jar archive FILE).");
      return FAILED;
    }
    try {
      Path folder = Files.createTempDirectory("lectus-archive");
      try {
        write(jar, folder);
      } finally {
        delete(folder);
      }
      console.say(
          file + " is written. To use it: java " + QUIET + option() + file + " -jar " + jar);
      return 0;
    } catch (NoSuchFileException | AccessDeniedException e) {
      console.complain("The archive " + file + " cannot be written: its folder takes no files.");
    } catch (IOException | UncheckedIOException e) {
      console.complain("The archive " + file + " cannot be written: " + e.getMessage() + ".");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return FAILED;
  }

  private static boolean hasCache() {
    return Runtime.version().feature() >= FIRST_WITH_CACHE;
  }

  private static String option() {
    return hasCache() ? "-XX:AOTCache=" : "-XX:SharedArchiveFile=";
  }

  /** Servers that run with the former file keep it: the new one takes its name, not its place. */
  private void write(String jar, Path folder) throws IOException, InterruptedException {
    Path target = file.toAbsolutePath();
    Path written = Files.createTempDirectory(target.getParent(), "archive").resolve("new");
    try {
      train(jar, folder, written);
      if (!isGood(jar, written)) {
        throw new IOException("the JVM wrote none; " + lastOf(folder.resolve("log")));
      }
      try (FileChannel content = FileChannel.open(written)) {
        content.force(true);
      }
      try {
        Files.move(written, target, StandardCopyOption.ATOMIC_MOVE);
      } catch (AtomicMoveNotSupportedException unusual) {
        Files.move(written, target, StandardCopyOption.REPLACE_EXISTING);
      }
    } finally {
      delete(written.getParent());
    }
  }

  /** A JVM may crash with an incomplete file (a full disk), so the file is tried. */
  private static boolean isGood(String jar, Path written) throws IOException, InterruptedException {
    Process trial =
        new ProcessBuilder(java(), option() + written, "-jar", jar, "--version")
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    return Files.exists(written) && trial.waitFor() == 0;
  }

  private static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  private static void train(String jar, Path folder, Path written)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(java());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(argument -> !NOT_PASSED_ON.matcher(argument).matches())
        .forEach(command::add);
    command.add((hasCache() ? "-XX:AOTCacheOutput=" : "-XX:ArchiveClassesAtExit=") + written);
    command.addAll(List.of("-jar", jar, "serve", "--port", "0"));
    command.addAll(List.of("--data", folder.resolve("data").toString()));
    Path log = folder.resolve("log");
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder
        .environment()
        .keySet()
        .removeIf(name -> name.startsWith("LECTUS_") || name.startsWith("COUCHDB_"));
    Process server = builder.redirectOutput(log.toFile()).start();
    try {
      new Requests(address(server, log)).send();
    } finally {
      server.destroy();
      if (!server.waitFor(END.toSeconds(), TimeUnit.SECONDS)) {
        server.destroyForcibly().waitFor();
      }
    }
  }

  private static String address(Process server, Path log) throws IOException, InterruptedException {
    long end = System.nanoTime() + START.toNanos();
    while (server.isAlive() && System.nanoTime() < end) {
      Matcher listening = LISTENING.matcher(Files.readString(log));
      if (listening.find()) {
        return listening.group(1);
      }
      server.waitFor(LOOK_MILLIS, TimeUnit.MILLISECONDS);
    }
    throw new IOException("the server did not start; " + lastOf(log));
  }

  private static String lastOf(Path log) throws IOException {
    List<String> lines = Files.readString(log).lines().toList();
    return lines.isEmpty() ? "it said nothing" : "it said: " + lines.get(lines.size() - 1);
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> tree = Files.walk(folder)) {
      for (Path each : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }

  /** Requests as clients and replicators send them, over one connection. */
  private record Requests(String server, HttpClient client) {
    Requests(String server) {
      this(server, HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build());
    }

    void send() throws IOException, InterruptedException {
      put("warm", "{}");
      put("warm/a", "{\"n\":1,\"s\":\"x\",\"list\":[1.5,true,null],\"o\":{\"p\":{}}}");
      post("warm/_bulk_docs", "{\"docs\":[{\"_id\":\"b\",\"n\":2},{\"_id\":\"c\"},{\"n\":4}]}");
      post("warm/_index", "{\"index\":{\"fields\":[\"n\"]}}");
      put("warm/_local/checkpoint", "{\"n\":1}");
      // Unpacks V8's library, too, where an image has to bring it.
      put("warm/_design/v", "{\"views\":{\"n\":{\"map\":\"doc => emit(doc.n)\"}}}");
      for (int i = 0; i < ROUNDS; i++) {
        get("warm/a");
        get("warm/b?revs=true&attachments=true");
        put("warm/d" + i, "{\"n\":" + i + ",\"s\":\"some text\"}");
        if (i % 10 == 0) {
          page();
        }
      }
      get("warm/_changes?feed=continuous&timeout=300");
      get("warm/_changes?feed=longpoll&since=now&timeout=300");
      get("warm/none");
      get("_all_dbs");
      get("_session");
      get("_utils/");
    }

    private void page() throws IOException, InterruptedException {
      get("warm");
      get("warm/_local/checkpoint");
      get("warm/_all_docs?include_docs=true&limit=100");
      get("warm/_changes?include_docs=true&limit=100");
      post("warm/_changes?filter=_selector&limit=100", "{\"selector\":{\"n\":{\"$gt\":1}}}");
      post("warm/_all_docs", "{\"keys\":[\"a\",\"none\"],\"include_docs\":true}");
      post("warm/_bulk_docs", "{\"docs\":[{\"n\":2},{\"n\":3},{\"n\":4}]}");
      post("warm/_bulk_get", "{\"docs\":[{\"id\":\"a\"}]}");
      post("warm/_revs_diff", "{\"a\":[\"1-967a00dff5e02add41819138abb3284d\"]}");
      post("warm/_find", "{\"selector\":{\"n\":{\"$gt\":1}},\"limit\":10}");
    }

    private void get(String path) throws IOException, InterruptedException {
      send(request(path).GET());
    }

    private void put(String path, String json) throws IOException, InterruptedException {
      send(request(path).PUT(body(json)));
    }

    private void post(String path, String json) throws IOException, InterruptedException {
      send(request(path).POST(body(json)));
    }

    private HttpRequest.Builder request(String path) {
      return HttpRequest.newBuilder(URI.create(server + "/" + path))
          .timeout(ANSWER)
          .header("Content-Type", "application/json");
    }

    private static HttpRequest.BodyPublisher body(String json) {
      return HttpRequest.BodyPublishers.ofString(json, StandardCharsets.UTF_8);
    }

    private void send(HttpRequest.Builder request) throws IOException, InterruptedException {
      client.send(request.build(), HttpResponse.BodyHandlers.discarding());
    }
  }
}
