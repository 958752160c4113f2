package lectus.script;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonString;

/**
 * What a child process runs. It reads lines from standard input and writes lines to standard
 * output; it has no other way in or out.
 *
 * <table>
 * <caption>Lines; a slot is one character</caption>
 * <tr><td>{@code P} slot JSON</td><td>down: the slot has this design document from now on</td></tr>
 * <tr><td>{@code D} slot</td><td>down: the slot is empty from now on</td></tr>
 * <tr><td>{@code C} slot JSON</td><td>down: a call of a function in the slot, as {@code runtime.js}
 * takes it</td></tr>
 * <tr><td>{@code R} text</td><td>up, once: the engine's name</td></tr>
 * <tr><td>{@code L} JSON</td><td>up: a message for the log</td></tr>
 * <tr><td>{@code V} JSON, or {@code T}, {@code N} and an array of strings, or {@code F} and one of
 * {@code ["time"]}, {@code ["memory"]}, {@code ["output"]}</td><td>up: the answer to a call, in the
 * order of the calls</td></tr>
 * </table>
 */
public final class ScriptChild {
  /** Bytes of an answer. */
  static final int MOST_OUTPUT = 4 << 20;

  static final String RUNTIME = "runtime.js";

  /** V8 takes one megabyte of its thread's stack, and Java below it some more. */
  private static final long STACK_BYTES = 4 << 20;

  /** Memory may grow by some megabytes in this time. */
  private static final long LOOK_MILLIS = 10;

  /** The status of a process that took too much memory, of itself or for Java. */
  static final int OUT_OF_MEMORY = 3;

  private static final int PAGE_BYTES = 4_096;

  /** A call that takes longer has the processors only while nobody else wants them. */
  private static final long LONG_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final ScriptEngine.Maker engines;
  private final String runtime;
  private final long mostMemory;
  private final long limitNanos;
  private final OutputStream out;
  private final BlockingQueue<byte[]> lines = new LinkedBlockingQueue<>();
  private final Map<Byte, Realm> slots = new HashMap<>();
  private Optional<ScriptEngine> running = Optional.empty();
  private long begun;

  /** Runs calls until one of them takes long. */
  private Thread calls = new Thread();

  private boolean isLong;

  private ScriptChild(
      ScriptEngine.Maker engines,
      String runtime,
      long mostMemory,
      long limitNanos,
      OutputStream out) {
    this.engines = engines;
    this.runtime = runtime;
    this.mostMemory = mostMemory;
    this.limitNanos = limitNanos;
    this.out = out;
  }

  /**
   * @param args a folder's file with V8's library or nothing, megabytes of its heap, bytes that the
   *     process may take, seconds that a call may take
   */
  public static void main(String[] args) throws IOException {
    OutputStream out = new FileOutputStream(FileDescriptor.out);
    System.setOut(System.err);
    dieFirst();
    ScriptChild child =
        new ScriptChild(
            maker(args[0], Integer.parseInt(args[1])),
            text(RUNTIME),
            Long.parseLong(args[2]),
            TimeUnit.SECONDS.toNanos(Integer.parseInt(args[3])),
            out);
    child.write("R" + child.engines.name());
    new Thread(child::run, "lectus-runs").start();
    Thread clock = new Thread(child::watch, "lectus-clock");
    clock.setDaemon(true);
    clock.start();
    child.read(new Lines(new FileInputStream(FileDescriptor.in), Integer.MAX_VALUE));
    // The server has gone, or needs the child no more.
    Runtime.getRuntime().halt(0);
  }

  /**
   * When the machine or the container runs out of memory, Linux ends this process, not the server.
   */
  private static void dieFirst() {
    try {
      Files.writeString(Path.of("/proc/self/oom_score_adj"), "1000");
    } catch (IOException elsewhere) {
      // It is as likely as any other.
    }
  }

  private static ScriptEngine.Maker maker(String library, int heapMegabytes) {
    if (!library.isEmpty()) {
      try {
        return ScriptEngine.V8.load(library, heapMegabytes);
      } catch (LinkageError notHere) {
        // There is another engine.
      }
    }
    return ScriptEngine.Rhino.load();
  }

  static String text(String resource) throws IOException {
    try (InputStream content = ScriptChild.class.getResourceAsStream(resource)) {
      return new String(content.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** The server knows how much it sends before it reads, so all of it is taken at once. */
  private void read(Lines in) throws IOException {
    for (Optional<byte[]> line = in.next(); line.isPresent(); line = in.next()) {
      lines.add(line.get());
    }
  }

  /** Only a system's administrator may give a thread back the priority that it had. */
  private void run() {
    try {
      while (true) {
        Thread next = new Thread(null, this::answer, "lectus-calls", STACK_BYTES);
        synchronized (this) {
          isLong = false;
          calls = next;
        }
        next.start();
        next.join();
      }
    } catch (InterruptedException | RuntimeException | Error end) {
      Runtime.getRuntime().halt(1);
    }
  }

  private void answer() {
    try {
      while (!wasLong()) {
        byte[] line = lines.take();
        String text = new String(line, 2, line.length - 2, StandardCharsets.UTF_8);
        if (line[0] == 'P') {
          slots.put(line[1], new Realm(text));
        } else if (line[0] == 'D') {
          slots.remove(line[1]).close();
        } else {
          write(slots.get(line[1]).call(text));
        }
      }
    } catch (IOException | InterruptedException | RuntimeException | Error end) {
      Runtime.getRuntime().halt(1);
    }
  }

  private synchronized boolean wasLong() {
    return isLong;
  }

  private void write(String text) throws IOException {
    out.write((text + "\n").getBytes(StandardCharsets.UTF_8));
  }

  private void watch() {
    while (true) {
      try {
        Thread.sleep(LOOK_MILLIS);
      } catch (InterruptedException e) {
        return;
      }
      look();
    }
  }

  private synchronized void look() {
    if (running.isEmpty()) {
      return;
    }
    if (memory("self") > mostMemory) {
      Runtime.getRuntime().halt(OUT_OF_MEMORY);
    }
    if (isLate()) {
      running.get().stop();
    } else if (!isLong && lasted() > LONG_NANOS) {
      isLong = true;
      calls.setPriority(Thread.MIN_PRIORITY);
    }
  }

  /**
   * Returns the bytes of memory that a process takes beside what it has of files; 0 where the
   * system does not say. V8 reserves half a gigabyte of addresses for each design document, of
   * which it writes to little, so no limit of the system on these would do.
   */
  static long memory(String process) {
    try {
      String[] pages = Files.readString(Path.of("/proc", process, "statm")).split(" ");
      return (Long.parseLong(pages[1]) - Long.parseLong(pages[2])) * PAGE_BYTES;
    } catch (IOException | RuntimeException unknown) {
      return 0;
    }
  }

  private boolean isLate() {
    return lasted() >= limitNanos;
  }

  private long lasted() {
    return System.nanoTime() - begun;
  }

  private synchronized void begin(ScriptEngine engine) {
    running = Optional.of(engine);
    begun = System.nanoTime();
  }

  /** Returns whether the call ran into its time limit. */
  private synchronized boolean end() {
    running = Optional.empty();
    return isLate();
  }

  /** What the runtime answers if an earlier call has changed what all have in common. */
  private static final Optional<String> SPOILT = Optional.of("");

  /** A design document, and the engine that has it once it is needed. */
  private final class Realm {
    private final String program;
    private Optional<ScriptEngine> engine = Optional.empty();

    Realm(String program) {
      this.program = program;
    }

    String call(String line) {
      if (engine.isEmpty()) {
        engine = Optional.of(engines.make(runtime));
        if (engine.get().call(program).isEmpty()) {
          close();
          return failed("memory");
        }
      }
      begin(engine.get());
      Optional<String> answer = engine.get().call(line);
      boolean wasLate = end();
      if (answer.equals(SPOILT)) {
        close();
        return call(line);
      }
      if (answer.isEmpty()) {
        close();
        return failed(wasLate ? "time" : "memory");
      }
      return sized(placed(answer.get()));
    }

    /** The engine knows where a text is no JavaScript; the runtime has only the message. */
    private String placed(String answer) {
      int last = answer.lastIndexOf('\n') + 1;
      if (answer.charAt(last) != 'N') {
        return answer;
      }
      JsonArray parts =
          (JsonArray) JsonValue.parse(answer.substring(last + 1).getBytes(StandardCharsets.UTF_8));
      String reason = ((JsonString) parts.elements().get(0)).value();
      if (parts.elements().size() == 2) {
        reason +=
            engine
                .get()
                .mistake(((JsonString) parts.elements().get(1)).value())
                .map(place -> " (line " + (place.line() - 1) + ", column " + place.column() + ")")
                .orElse("");
      }
      return answer.substring(0, last) + strings('N', reason);
    }

    private String sized(String answer) {
      boolean isLarge =
          answer.length() > MOST_OUTPUT / 3
              && answer.getBytes(StandardCharsets.UTF_8).length > MOST_OUTPUT;
      return isLarge ? failed("output") : answer;
    }

    void close() {
      engine.ifPresent(ScriptEngine::close);
      engine = Optional.empty();
    }
  }

  private static String failed(String reason) {
    return strings('F', reason);
  }

  private static String strings(char kind, String text) {
    return kind + new JsonBuffer(text.length()).octet('[').string(text).octet(']').toString();
  }
}
