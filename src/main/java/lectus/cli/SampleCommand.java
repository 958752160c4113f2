package lectus.cli;

import com.ibm.icu.lang.UCharacter;
import com.ibm.icu.lang.UProperty;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.IntConsumer;
import java.util.function.ObjIntConsumer;
import java.util.stream.IntStream;
import lectus.cli.ServerUrl.RefusedException;
import lectus.config.ConfigurationException;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code lectus sample}: loads a database worth looking at. */
@Command(
    name = "sample",
    description = "Loads the Unicode character database, some 140 000 documents, into a server.",
    mixinStandardHelpOptions = true)
public final class SampleCommand implements Callable<Integer> {
  /** How many documents lie between two lines of progress where there is no terminal. */
  private static final int BETWEEN_LINES = 20_000;

  @Option(
      names = "--url",
      paramLabel = "URL",
      converter = ServerUrl.Parsing.class,
      defaultValue = "http://127.0.0.1:5984/unicode",
      description = {
        "The database, created if it is missing. Default:",
        "${DEFAULT-VALUE}",
        "With http://NAME@… the password is asked for; http://NAME:PASSWORD@… has it."
      })
  private URI url;

  @Option(
      names = "--ca",
      paramLabel = "FILE",
      description = "Certificates to trust, in PEM, in place of the JDK's.")
  private Path authorities;

  @Spec private CommandSpec spec;

  private final boolean isTerminal;
  private final PasswordPrompt prompt;

  /**
   * @param isTerminal whether progress is one line that changes
   * @param prompt asks for a password that the URL lacks
   */
  public SampleCommand(boolean isTerminal, PasswordPrompt prompt) {
    this.isTerminal = isTerminal;
    this.prompt = prompt;
  }

  @Override
  public Integer call() {
    ServerUrl database = database();
    PrintWriter out = spec.commandLine().getOut();
    try {
      DocumentLoader.Loaded loaded =
          new DocumentLoader(database, this::progress)
              .load(UnicodeCharacters.all(), (batch, c) -> UnicodeCharacters.write(c, batch));
      String before = loaded.existing() == 0 ? "" : ", " + loaded.existing() + " of them before";
      out.println("Loaded " + loaded.documents() + " documents into " + database + before);
      return 0;
    } catch (IOException e) {
      spec.commandLine()
          .getErr()
          .println("lectus: The documents could not be loaded: " + e.getMessage() + ".");
      return 1;
    }
  }

  private ServerUrl database() {
    ServerUrl named = ServerUrl.of(url, Optional.ofNullable(authorities), prompt);
    if (!named.hasPath()) {
      throw new ConfigurationException(
          "--url has to name a database, such as http://127.0.0.1:5984/unicode");
    }
    return named;
  }

  /** At a terminal the line ends in a carriage return, so the next one replaces it. */
  private void progress(int sent) {
    if (isTerminal) {
      spec.commandLine().getOut().print(sent + " documents\r");
      spec.commandLine().getOut().flush();
    } else if (sent % BETWEEN_LINES == 0) {
      spec.commandLine().getErr().println(sent + " documents so far");
      spec.commandLine().getErr().flush();
    }
  }

  /**
   * Unicode's character database, as the JDK and ICU have it, as documents. Each assigned character
   * has its id (U+0041), name, block, script, category, numeric value, bidirectional class, case
   * mappings, and the character itself. About 140 000 documents of real, international data.
   */
  public static final class UnicodeCharacters {
    private UnicodeCharacters() {}

    /** Returns the code points of characters: not unassigned, private use or surrogates. */
    public static IntStream all() {
      return IntStream.rangeClosed(Character.MIN_CODE_POINT, Character.MAX_CODE_POINT)
          .filter(UnicodeCharacters::isAssigned);
    }

    private static boolean isAssigned(int codePoint) {
      return switch (Character.getType(codePoint)) {
        case Character.UNASSIGNED, Character.PRIVATE_USE, Character.SURROGATE -> false;
        default -> true;
      };
    }

    public static String id(int codePoint) {
      return String.format(Locale.ROOT, "U+%04X", codePoint);
    }

    public static void write(int codePoint, JsonBuffer out) {
      out.ascii("{\"_id\":").string(id(codePoint));
      out.ascii(",\"code\":").number(codePoint);
      out.ascii(",\"character\":").string(Character.toString(codePoint));
      out.ascii(",\"name\":").string(Character.getName(codePoint));
      member(out, "block", Objects.toString(Character.UnicodeBlock.of(codePoint), "NO_BLOCK"));
      member(out, "script", Character.UnicodeScript.of(codePoint).name());
      member(out, "category", abbreviation(codePoint, UProperty.GENERAL_CATEGORY));
      member(out, "bidi", abbreviation(codePoint, UProperty.BIDI_CLASS));
      out.ascii(",\"mirrored\":").bool(Character.isMirrored(codePoint));
      writeNumericValue(codePoint, out);
      writeCaseMappings(codePoint, out);
      out.octet('}');
    }

    private static void writeNumericValue(int codePoint, JsonBuffer out) {
      // -1: none; -2: not a non-negative integer, such as a half
      int value = Character.getNumericValue(codePoint);
      if (value >= 0) {
        out.ascii(",\"numeric\":").number(value);
      }
    }

    private static void writeCaseMappings(int codePoint, JsonBuffer out) {
      String itself = Character.toString(codePoint);
      String upper = itself.toUpperCase(Locale.ROOT);
      String lower = itself.toLowerCase(Locale.ROOT);
      String title = Character.toString(Character.toTitleCase(codePoint));
      Map<String, String> mapped = new LinkedHashMap<>();
      mapped.put("upper", upper);
      mapped.put("lower", lower);
      mapped.put("title", title);
      mapped.values().removeIf(itself::equals);
      out.ascii(",\"case\":").object(mapped, out::string);
    }

    private static void member(JsonBuffer out, String name, String value) {
      out.octet(',').string(name).octet(':').string(value);
    }

    /** Returns a property's value as the Unicode standard abbreviates it, such as {@code Lu}. */
    private static String abbreviation(int codePoint, int property) {
      int value = UCharacter.getIntPropertyValue(codePoint, property);
      return UCharacter.getPropertyValueName(property, value, UProperty.NameChoice.SHORT);
    }
  }

  /**
   * Writes documents to a database of a running server, like any client. It creates the database if
   * missing, then sends {@code _bulk_docs}, a few requests at a time.
   */
  public static final class DocumentLoader {
    private static final int DOCUMENTS_PER_REQUEST = 1_000;
    private static final int REQUESTS_AT_ONCE = 4;
    private static final int PRECONDITION_FAILED = 412;

    private final ServerUrl database;
    private final IntConsumer progress;

    /**
     * @param database such as {@code http://127.0.0.1:5984/unicode}
     * @param progress receives the number of documents sent so far, after each request
     */
    public DocumentLoader(ServerUrl database, IntConsumer progress) {
      this.database = database;
      this.progress = progress;
    }

    /**
     * How many documents there are now.
     *
     * @param existing of those, were there before and stayed as they were
     */
    public record Loaded(int documents, int existing) {}

    /**
     * Loads a document for each number; existing documents stay unchanged.
     *
     * @param writer appends the document of a number, an object with its {@code _id}
     * @throws IOException if the server cannot be reached or refuses, be it a single document
     */
    public Loaded load(IntStream numbers, ObjIntConsumer<JsonBuffer> writer) throws IOException {
      createDatabase();
      Queue<CompletableFuture<Integer>> underWay = new ArrayDeque<>();
      JsonBuffer batch = new JsonBuffer(1 << 20);
      int sent = 0;
      int existing = 0;
      int inBatch = 0;
      for (int number : (Iterable<Integer>) numbers::iterator) {
        batch.ascii(inBatch == 0 ? "{\"docs\":[" : ",");
        writer.accept(batch, number);
        sent++;
        if (++inBatch == DOCUMENTS_PER_REQUEST) {
          existing += submit(batch, underWay);
          progress.accept(sent);
          inBatch = 0;
        }
      }
      if (inBatch > 0) {
        existing += submit(batch, underWay);
      }
      while (!underWay.isEmpty()) {
        existing += ServerUrl.await(underWay.remove());
      }
      return new Loaded(sent, existing);
    }

    private void createDatabase() throws IOException {
      HttpRequest put = database.request("").PUT(BodyPublishers.noBody()).build();
      ServerUrl.await(
          database
              .sendAsync(put, BodyHandlers.ofString())
              .thenApply(a -> a.statusCode() == PRECONDITION_FAILED ? a : check(a)));
    }

    /** Returns how many documents of an earlier request there were before. */
    private int submit(JsonBuffer batch, Queue<CompletableFuture<Integer>> underWay)
        throws IOException {
      int existing = underWay.size() == REQUESTS_AT_ONCE ? ServerUrl.await(underWay.remove()) : 0;
      byte[] body = batch.ascii("]}").toBytes();
      batch.truncate(0);
      HttpRequest post =
          database
              .request("/_bulk_docs")
              .header("Content-Type", "application/json")
              .POST(BodyPublishers.ofByteArray(body))
              .build();
      underWay.add(
          database
              .sendAsync(post, BodyHandlers.ofString())
              .thenApply(DocumentLoader::check)
              .thenApply(DocumentLoader::existing));
      return existing;
    }

    private static HttpResponse<String> check(HttpResponse<String> answer) {
      if (answer.statusCode() / 100 != 2) {
        throw new CompletionException(
            new RefusedException(answer.statusCode(), answer.body().strip()));
      }
      return answer;
    }

    /** Looks at each row: one that is no conflict says that its document is not stored. */
    private static int existing(HttpResponse<String> answer) {
      int conflicts = 0;
      for (JsonValue row : rows(answer.body())) {
        Optional<String> error = row.textOf("error");
        if (error.filter("conflict"::equals).isPresent()) {
          conflicts++;
        } else if (error.isPresent()) {
          throw new CompletionException(
              new IOException(
                  "the server refused the document "
                      + row.textOf("id").orElse("")
                      + ": "
                      + error.get()
                      + ", "
                      + row.textOf("reason").orElse("")));
        }
      }
      return conflicts;
    }

    private static Iterable<JsonValue> rows(String body) {
      if (JsonValue.parse(body.getBytes(StandardCharsets.UTF_8)) instanceof JsonArray array) {
        return array.elements();
      }
      throw new CompletionException(new IOException("the server's answer has no rows"));
    }
  }
}
