package lectus.script;

import com.fasterxml.jackson.core.JsonToken;
import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.json.JsonInput;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonString;
import lectus.script.Call.Program;
import lectus.script.Outcome.NotCompiled;
import lectus.script.Outcome.Thrown;
import lectus.script.Outcome.Value;
import lectus.script.Scripts.ScriptSettings;
import lectus.script.Scripts.ScriptSettings.EngineChoice;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A child process as the server sees it, which does not trust it. One thread uses it. */
final class Child implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger("lectus.script");

  /** Bytes of a line that comes up: an answer, or a message with its escapes. */
  private static final int LONGEST_LINE = ScriptChild.MOST_OUTPUT + (64 << 10);

  /** Messages of functions; others are left out. */
  private static final int LOGGED_A_SECOND = 10;

  /** What a process may take beyond its limit before it has seen that. */
  private static final long EXCESS_BYTES = 64 << 20;

  private static final long END_MILLIS = 500;

  static final String TOO_LONG = " took too much time.";
  static final String TOO_MUCH = " took too much memory.";
  static final String ENDED = " ended its process.";

  private final Process process;
  private final ScriptSettings settings;
  private final OutputStream down;
  private final Lines up;
  private String engine = "";
  private long second;
  private int logged;
  private final Map<String, Slot> slots;

  private record Slot(char name, int bytes) {}

  private Child(Process process, ScriptSettings settings) {
    this.process = process;
    this.settings = settings;
    this.slots = new LinkedHashMap<>(settings.slots(), 1, true);
    this.down = new BufferedOutputStream(process.getOutputStream(), 1 << 16);
    this.up = new Lines(process.getInputStream(), LONGEST_LINE);
  }

  /** Waits until the process is ready. */
  void begin() throws IOException {
    byte[] first = line();
    if (first.length == 0 || first[0] != 'R') {
      throw new IOException("It did not begin.");
    }
    engine = new String(first, 1, first.length - 1, StandardCharsets.UTF_8);
  }

  static Child start(ScriptSettings settings) throws IOException {
    List<String> command = new ArrayList<>();
    String library = library(settings);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-Xms4m",
            "-Xmx" + settings.javaMegabytes() + "m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:+ExitOnOutOfMemoryError",
            "-XX:-UsePerfData",
            "-XX:+SuppressFatalErrorMessage",
            // Threads may have priorities, of which Java would warn in the pipe.
            "-XX:ThreadPriorityPolicy=1",
            "-XX:JavaPriority1_To_OSPriority=19",
            "-XX:+DisplayVMOutputToStderr",
            "-cp",
            classPath(),
            ScriptChild.class.getName(),
            library,
            String.valueOf(settings.heapMegabytes()),
            String.valueOf(settings.mostMemory()),
            String.valueOf(settings.timeoutSeconds())));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().clear();
    builder.redirectError(ProcessBuilder.Redirect.DISCARD);
    return new Child(builder.start(), settings);
  }

  /** Returns where V8's library is, and nothing if there is none. */
  private static String library(ScriptSettings settings) {
    return settings.engine() == EngineChoice.RHINO ? "" : ScriptEngine.V8.library().orElse("");
  }

  private static String classPath() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .map(entry -> Path.of(entry).toAbsolutePath().toString())
        .collect(Collectors.joining(File.pathSeparator));
  }

  String engine() {
    return engine;
  }

  /** Whether the process has more memory than it may have, though it looks at that itself. */
  boolean isLarge() {
    return ScriptChild.memory(String.valueOf(process.pid())) > settings.mostMemory() + EXCESS_BYTES;
  }

  /** Whether the process has ended because it took too much memory. */
  boolean ranOut() {
    return !process.isAlive() && process.exitValue() == ScriptChild.OUT_OF_MEMORY;
  }

  /** Sends a call, and before it the design document if the child does not have it. */
  void send(Program program, Call call) throws IOException {
    Slot slot = slots.get(program.key());
    if (slot == null) {
      slot = load(program);
    }
    JsonBuffer line = new JsonBuffer(256);
    line.octet('C').octet(slot.name()).octet('[').string(call.kind().name()).octet(',');
    line.strings(call.path()).ascii(",[");
    line.each(call.arguments(), argument -> line.raw(onOneLine(argument))).ascii("]]\n");
    down.write(line.toBytes());
  }

  void flush() throws IOException {
    down.flush();
  }

  private Slot load(Program program) throws IOException {
    char name = free(program.json().length);
    JsonBuffer line = new JsonBuffer(program.json().length + 256);
    line.octet('P').octet(name).octet('[').strings(names(program.json()));
    line.octet(',').raw(onOneLine(program.json())).ascii("]\n");
    down.write(line.toBytes());
    Slot slot = new Slot(name, program.json().length);
    slots.put(program.key(), slot);
    return slot;
  }

  /**
   * Returns a slot for a design document of this size, emptying those that were not used lately.
   */
  private char free(int bytes) throws IOException {
    while (slots.size() == settings.slots()
        || (!slots.isEmpty() && bytes() + bytes > settings.longest())) {
      Slot oldest = slots.remove(slots.keySet().iterator().next());
      down.write(new byte[] {'D', (byte) oldest.name(), '\n'});
    }
    char name = 'a';
    while (isTaken(name)) {
      name++;
    }
    return name;
  }

  private long bytes() {
    return slots.values().stream().mapToLong(Slot::bytes).sum();
  }

  private boolean isTaken(char name) {
    return slots.values().stream().anyMatch(slot -> slot.name() == name);
  }

  /** Returns the views that have a map, in their order, which JavaScript would not keep. */
  private static List<String> names(byte[] design) {
    List<String> names = new ArrayList<>();
    try (JsonInput json = JsonInput.of(design)) {
      json.next();
      while (json.next() == JsonToken.FIELD_NAME) {
        boolean areViews = json.name().equals("views");
        if (json.next() != JsonToken.START_OBJECT || !areViews) {
          json.skip();
          continue;
        }
        while (json.next() == JsonToken.FIELD_NAME) {
          String name = json.name();
          json.next();
          if (hasMap(json)) {
            names.add(name);
          }
        }
      }
    }
    return names;
  }

  private static boolean hasMap(JsonInput view) {
    if (view.token() != JsonToken.START_OBJECT) {
      view.skip();
      return false;
    }
    boolean found = false;
    while (view.next() == JsonToken.FIELD_NAME) {
      found |= view.name().equals("map");
      view.next();
      view.skip();
    }
    return found;
  }

  /** A line end within JSON is white space. */
  private static byte[] onOneLine(byte[] json) {
    byte[] line = json;
    for (int i = 0; i < json.length; i++) {
      if (json[i] == '\n' || json[i] == '\r') {
        if (line == json) {
          line = json.clone();
        }
        line[i] = ' ';
      }
    }
    return line;
  }

  /**
   * Waits for the next answer.
   *
   * @param program and call that it is for
   * @throws IOException the child has ended, or has sent what is no answer
   */
  Outcome answer(Program program, Call call) throws IOException {
    while (true) {
      byte[] line = line();
      if (line.length < 2) {
        throw new IOException("A line is too short.");
      }
      try {
        if (line[0] == 'V') {
          byte[] json = Arrays.copyOfRange(line, 1, line.length);
          requireJson(json);
          return new Value(json);
        }
        if (line[0] != 'L') {
          return outcome(line[0], strings(line), call);
        }
        log(program.name(), strings(line).get(0));
      } catch (LectusException malformed) {
        throw new IOException(malformed);
      }
    }
  }

  private static void requireJson(byte[] json) {
    try (JsonInput input = JsonInput.of(json)) {
      input.next();
      input.skip();
      input.expectEnd();
    }
  }

  private void log(String program, String message) {
    long now = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime());
    logged = now == second ? logged + 1 : 1;
    second = now;
    if (logged <= LOGGED_A_SECOND) {
      LOG.info("A function of {} says: {}", program, message);
    }
  }

  private static Outcome outcome(byte kind, List<String> parts, Call call) throws IOException {
    return switch (kind) {
      case 'T' -> new Thrown(parts.get(0), parts.get(parts.size() - 1));
      case 'N' -> new NotCompiled(parts.get(0));
      case 'F' ->
          switch (parts.get(0)) {
            case "time" -> call.failed(TOO_LONG);
            case "memory" -> call.failed(TOO_MUCH);
            default -> call.failed(" returned more than 4 MB.");
          };
      default -> throw new IOException("A line is of no known kind.");
    };
  }

  private static List<String> strings(byte[] line) throws IOException {
    JsonValue parsed = JsonValue.parse(Arrays.copyOfRange(line, 1, line.length));
    List<JsonValue> elements =
        parsed instanceof JsonArray array ? array.elements() : List.of(parsed);
    if (elements.isEmpty()) {
      throw new IOException("A line has no text.");
    }
    List<String> texts = new ArrayList<>();
    for (JsonValue element : elements) {
      texts.add(element instanceof JsonString string ? string.value() : element.toJson());
    }
    return texts;
  }

  private byte[] line() throws IOException {
    Optional<byte[]> line = up.next();
    if (line.isEmpty()) {
      awaitEnd();
      throw new EOFException("The child has ended.");
    }
    return line.get();
  }

  /** The pipe ends before the process does. */
  private void awaitEnd() {
    try {
      process.waitFor(END_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends the process at once. Any thread may do so. */
  @Override
  public void close() {
    process.destroyForcibly();
  }
}
