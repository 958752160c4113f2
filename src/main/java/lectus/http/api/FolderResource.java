package lectus.http.api;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import lectus.document.PagedBody;
import lectus.error.LectusException;
import lectus.http.ByteRanges;
import lectus.http.EntityTag;
import lectus.http.Headers;
import lectus.http.HttpDate;
import lectus.http.Reply;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.PublicUrl;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.StreamedBody;
import lectus.json.JsonBuffer;

/** The files of a folder, below a name at the top. A folder in it shows its index. */
public final class FolderResource implements Resource {
  private static final int PARTIAL = 206;

  private final Folder folder;
  private final List<Reply.Header> headers;

  /**
   * @param headers of each file
   */
  public FolderResource(Path root, List<Reply.Header> headers) {
    this.folder = new Folder(root);
    this.headers = headers;
  }

  @Override
  public void serve(Exchange exchange) {
    Requests.allow(exchange, "GET,HEAD");
    exchange
        .work(() -> find(exchange))
        .onComplete(found -> exchange.guarded(() -> answer(exchange, found)), exchange::fail);
  }

  private Folder.Entry find(Exchange exchange) throws IOException {
    List<String> names = new ArrayList<>(exchange.target().segments());
    names.remove(0);
    if (exchange.request().path().endsWith("/")) {
      names.add(Folder.INDEX);
    }
    return folder.find(names).orElseThrow(() -> LectusException.notFound("missing"));
  }

  private void answer(Exchange exchange, Folder.Entry found) {
    if (found instanceof ServedFile file) {
      send(exchange, file);
    } else {
      exchange.reply(toSlash(exchange));
    }
  }

  /** Redirects to the path with a slash; without it, a page's links would lead elsewhere. */
  private static Reply toSlash(Exchange exchange) {
    String path = exchange.request().path() + "/";
    return Reply.empty(301).with(Headers.LOCATION, PublicUrl.ofPath(exchange, path));
  }

  private void send(Exchange exchange, ServedFile file) {
    if (isKnown(exchange, file)) {
      exchange.reply(new Reply(304, null, Buffer.buffer(0), headersOf(file)));
      return;
    }
    List<ByteRanges.Part> parts = ByteRanges.of(exchange.range(file.tag()), file.size()).all();
    // Nobody has to be given several parts (RFC 9110, section 15.3.7.2).
    exchange.streamTagged(() -> parts.size() == 1 ? part(file, parts.get(0)) : whole(file));
  }

  private StreamedBody whole(ServedFile file) {
    return StreamedBody.ofLength(
        file.size(), file.type(), headersOf(file), new FileParts(file, 0, file.size()));
  }

  private StreamedBody part(ServedFile file, ByteRanges.Part part) {
    return StreamedBody.ofLength(
            part.length(),
            file.type(),
            headersOf(file),
            new FileParts(file, part.from(), part.end()))
        .with(List.of(new Reply.Header(HttpHeaders.CONTENT_RANGE, part.contentRange(file.size()))))
        .withStatus(PARTIAL);
  }

  /** Dates count only without tags (RFC 9110, section 13.1.3). */
  private static boolean isKnown(Exchange exchange, ServedFile file) {
    return exchange.header(HttpHeaders.IF_NONE_MATCH) != null
        ? exchange.hasSeen(file.tag())
        : Optional.ofNullable(exchange.header(HttpHeaders.IF_MODIFIED_SINCE))
            .filter(file::isUnchangedSince)
            .isPresent();
  }

  private List<Reply.Header> headersOf(ServedFile file) {
    List<Reply.Header> all = new ArrayList<>(headers);
    all.add(new Reply.Header(Headers.ETAG, file.tag().header()));
    all.add(new Reply.Header(HttpHeaders.ACCEPT_RANGES, "bytes"));
    all.add(new Reply.Header(HttpHeaders.LAST_MODIFIED, file.lastModified()));
    return all;
  }

  /**
   * A folder of files. Nothing outside of it is found, whatever the names are or symbolic links
   * point to, and nothing that is hidden. Its methods read the disk.
   */
  private static final class Folder {
    static final String INDEX = "index.html";

    private static final String FORBIDDEN_CHARACTERS = "/\\:\0";

    private final Path root;

    Folder(Path root) {
      this.root = root;
    }

    /** What lies below a name. */
    sealed interface Entry permits ServedFile, Subfolder {}

    /** A folder within the folder. */
    record Subfolder() implements Entry {}

    /**
     * @param names from the folder down to the file
     */
    Optional<Entry> find(List<String> names) throws IOException {
      return names.stream().allMatch(Folder::isAllowed) ? look(names) : Optional.empty();
    }

    /** Returns whatever cannot be reached as absent; a name may be longer than the disk allows. */
    private Optional<Entry> look(List<String> names) throws IOException {
      try {
        Path inside = root.toRealPath();
        Path file = inside.resolve(String.join("/", names)).toRealPath();
        return file.startsWith(inside) ? entryAt(file) : Optional.empty();
      } catch (FileSystemException | InvalidPathException absent) {
        return Optional.empty();
      }
    }

    private static Optional<Entry> entryAt(Path file) throws IOException {
      BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
      if (found.isDirectory()) {
        return Optional.of(new Subfolder());
      }
      return found.isRegularFile() && found.size() <= ServedFile.MAX_BYTES
          ? Optional.of(new ServedFile(file, found.size(), found.lastModifiedTime().toInstant()))
          : Optional.empty();
    }

    private static boolean isAllowed(String name) {
      return !name.startsWith(".")
          && name.chars().noneMatch(c -> FORBIDDEN_CHARACTERS.indexOf(c) >= 0);
    }
  }

  /**
   * A regular file as it was found.
   *
   * @param size in bytes
   */
  record ServedFile(Path path, long size, Instant modified) implements Folder.Entry {
    /** Longer files are not served. */
    static final long MAX_BYTES = 64 << 20;

    String type() {
      return FileTypes.of(path.getFileName().toString());
    }

    EntityTag tag() {
      return new EntityTag("%x-%x".formatted(size, modified.toEpochMilli()));
    }

    /** Returns the value of {@code Last-Modified}, which has whole seconds. */
    String lastModified() {
      return HttpDate.format(modified);
    }

    /**
     * Whether it is as it was at that time; false for what is no date, which is to be ignored.
     *
     * @param date of an {@code If-Modified-Since}
     */
    boolean isUnchangedSince(String date) {
      return HttpDate.parse(date)
          .filter(since -> !modified.truncatedTo(ChronoUnit.SECONDS).isAfter(since))
          .isPresent();
    }
  }

  /** A file's bytes. It is open only while a part is read: clients may be slow, or leave. */
  static final class FileParts implements PagedBody {
    private static final int PART_BYTES = 128 << 10;

    private final ServedFile file;
    private final long end;
    private long position;

    FileParts(ServedFile file, long from, long end) {
      this.file = file;
      this.position = from;
      this.end = end;
    }

    /** Fails if the file became shorter: the client would wait for the rest. */
    @Override
    public boolean appendNext(JsonBuffer out) {
      ByteBuffer part = ByteBuffer.allocate((int) Math.min(PART_BYTES, end - position));
      try (SeekableByteChannel channel = Files.newByteChannel(file.path())) {
        channel.position(position);
        fill(part, channel);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      out.raw(part.array(), 0, part.position());
      position += part.position();
      return position < end;
    }

    private static void fill(ByteBuffer part, SeekableByteChannel channel) throws IOException {
      while (part.hasRemaining()) {
        if (channel.read(part) < 0) {
          throw new EOFException();
        }
      }
    }
  }

  /** The media types of files, by the ends of their names. Browsers are told not to guess. */
  public static final class FileTypes {
    private static final String UNKNOWN = "application/octet-stream";

    private static final Map<String, String> BY_ENDING =
        Map.ofEntries(
            Map.entry("html", "text/html; charset=utf-8"),
            Map.entry("css", "text/css; charset=utf-8"),
            Map.entry("js", "text/javascript; charset=utf-8"),
            Map.entry("mjs", "text/javascript; charset=utf-8"),
            Map.entry("txt", "text/plain; charset=utf-8"),
            Map.entry("json", "application/json"),
            Map.entry("map", "application/json"),
            Map.entry("xml", "application/xml"),
            Map.entry("wasm", "application/wasm"),
            Map.entry("svg", "image/svg+xml"),
            Map.entry("png", "image/png"),
            Map.entry("gif", "image/gif"),
            Map.entry("jpg", "image/jpeg"),
            Map.entry("jpeg", "image/jpeg"),
            Map.entry("webp", "image/webp"),
            Map.entry("ico", "image/x-icon"),
            Map.entry("woff", "font/woff"),
            Map.entry("woff2", "font/woff2"),
            Map.entry("ttf", "font/ttf"),
            Map.entry("otf", "font/otf"),
            Map.entry("eot", "application/vnd.ms-fontobject"));

    private FileTypes() {}

    public static String of(String fileName) {
      String ending = fileName.substring(fileName.lastIndexOf('.') + 1);
      return BY_ENDING.getOrDefault(ending.toLowerCase(Locale.ROOT), UNKNOWN);
    }
  }
}
