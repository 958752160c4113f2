package lectus.cli;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lectus.attachment.ContentId;
import lectus.database.DatabaseName;
import lectus.database.Sequence;
import lectus.error.LectusException;
import lectus.image.HeldContents;
import lectus.image.ImageFrame.End;
import lectus.image.ImageFrame.Header;
import lectus.image.ImageParser;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.store.embedded.engine.folder.DurableFile;

/**
 * The backup of one database: a folder with a file for each image, and a description of them.
 *
 * <pre>
 * backup.json     {"lectus_backup":1,"database":…,"follower":…,"images":[
 *                 {"file":…,"instance":…,"since":…,"sequence":…,"written":…,"bytes":…,"sha256":…}, …]}
 * 000001.image    an image of the whole database, the beginning of a chain; it has no "since"
 * 000002.image    an increment: what changed since the image before
 * 000001.contents the SHA-256 of the image, as the description has it, and those of its contents
 *                 that no image before it has; made anew from the image if it is missing
 * 000001.*        what another release makes of the image
 * lock            locked by the command that writes
 * </pre>
 *
 * <p>An image is written and synced under another name, then gets its own, and then stands in the
 * description. A command that is killed leaves at most a file that the next one removes.
 */
final class BackupFolder implements AutoCloseable {
  private static final String DESCRIPTION = "backup.json";
  private static final String LOCK = "lock";
  private static final String SUFFIX = ".image";

  /** A mounted file system has a folder that only root may read. A database's has no plus sign. */
  private static final String OF_FILE_SYSTEM = "lost+found";

  private static final String CONTENTS = ".contents";
  private static final String PART = ".part";
  private static final int DIGEST_BYTES = 32;
  private static final String FORMAT = "lectus_backup";
  private static final int LONGEST_DESCRIPTION = 64 << 20;
  private static final int BUFFER = 1 << 18;
  private static final String OWNER_ALONE = "rwx------";

  private final Path folder;
  private final String database;
  private final String follower;
  private final List<StoredImage> images = new ArrayList<>();
  private Optional<FileChannel> lock = Optional.empty();

  private BackupFolder(Path folder, String database, String follower) {
    this.folder = folder;
    this.database = database;
    this.follower = follower;
  }

  /**
   * An image as the description has it.
   *
   * @param instance of the database; one that was deleted and is there again is another one
   * @param since the sequence from which an increment goes on
   * @param sequence the one at which it is consistent
   * @param written when it was begun, in RFC 3339's form
   * @param sha256 of its frames before the last, as that says
   */
  record StoredImage(
      String file,
      String instance,
      Optional<String> since,
      String sequence,
      String written,
      long bytes,
      String sha256) {

    private static StoredImage of(JsonObject described) throws IOException {
      String bytes = described.get("bytes").map(JsonValue::toJson).orElse("");
      if (!bytes.matches("\\d{1,18}")) {
        throw damaged();
      }
      return new StoredImage(
          text(described, "file", "\\d{6,9}" + SUFFIX),
          text(described, "instance", "[0-9a-f]{32}"),
          described.get("since").isPresent()
              ? Optional.of(sequence(described, "since"))
              : Optional.empty(),
          sequence(described, "sequence"),
          time(described),
          Long.parseLong(bytes),
          text(described, "sha256", "[0-9a-f]{" + 2 * DIGEST_BYTES + "}"));
    }

    private static String sequence(JsonObject described, String member) throws IOException {
      String sequence = text(described, member, ".*");
      return Sequence.parse(sequence).map(any -> sequence).orElseThrow(BackupFolder::damaged);
    }

    private static String time(JsonObject described) throws IOException {
      String written = text(described, "written", ".*");
      try {
        Instant.parse(written);
        return written;
      } catch (DateTimeParseException none) {
        throw damaged();
      }
    }

    private JsonBuffer appendTo(JsonBuffer json) {
      json.ascii("\n{\"file\":").string(file).ascii(",\"instance\":").string(instance);
      since.ifPresent(it -> json.ascii(",\"since\":").string(it));
      json.ascii(",\"sequence\":").string(sequence).ascii(",\"written\":").string(written);
      json.ascii(",\"bytes\":").number(bytes).ascii(",\"sha256\":").string(sha256);
      return json.octet('}');
    }

    /** Whether it is an increment of another one. */
    private boolean follows(Optional<StoredImage> before) {
      return before
          .filter(it -> it.instance.equals(instance) && since.equals(Optional.of(it.sequence)))
          .isPresent();
    }

    /** What is not of the form would fail where it is used, perhaps as a part of a URL. */
    private static String text(JsonObject described, String member, String form)
        throws IOException {
      if (described.get(member).orElse(null) instanceof JsonString it && it.value().matches(form)) {
        return it.value();
      }
      throw damaged();
    }
  }

  /** There is no increment, because the images are of a database that is not there any more. */
  static final class AnotherInstanceException extends IOException {
    private static final long serialVersionUID = 1L;

    private AnotherInstanceException() {
      super("the database was deleted meanwhile and is there again");
    }
  }

  /** An image shows a content that neither it nor those before have. */
  static final class LackingContentException extends IOException {
    private static final long serialVersionUID = 1L;

    private LackingContentException(String document) {
      super("the image lacks an attachment of the document " + document);
    }
  }

  private static IOException damaged() {
    return new IOException(DESCRIPTION + " is damaged");
  }

  /**
   * Returns the folders of the databases in a folder of backups, in the order of their names; that
   * of one database is its own.
   */
  static List<Path> all(Path root) throws IOException {
    if (hasImages(root)) {
      return List.of(root);
    }
    if (!Files.isDirectory(root)) {
      return List.of();
    }
    List<Path> found = new ArrayList<>();
    try (Stream<Path> folders = Files.list(root)) {
      for (Path each : folders.sorted().toList()) {
        if (!each.endsWith(OF_FILE_SYSTEM) && hasImages(each)) {
          found.add(each);
        }
      }
    }
    return found;
  }

  /** Whether it is a backup, be it a damaged one. */
  private static boolean hasImages(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return false;
    }
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(it -> it.getFileName().toString())
          .anyMatch(it -> it.equals(DESCRIPTION) || it.endsWith(SUFFIX));
    }
  }

  /** Returns where the backup of a database lies. */
  static Path of(Path root, String database) {
    return root.resolve(ServerUrl.segment(database));
  }

  /**
   * Opens a backup to read it.
   *
   * @throws IOException a sentence
   */
  static BackupFolder read(Path folder) throws IOException {
    Path file = folder.resolve(DESCRIPTION);
    if (!Files.exists(file)) {
      throw new IOException(hasImages(folder) ? DESCRIPTION + " is missing" : "there is no backup");
    }
    if (Files.size(file) > LONGEST_DESCRIPTION) {
      throw damaged();
    }
    try {
      if (JsonValue.parse(Files.readAllBytes(file)) instanceof JsonObject described) {
        return read(folder, described);
      }
    } catch (LectusException noJson) {
      // Said below.
    }
    throw damaged();
  }

  private static BackupFolder read(Path folder, JsonObject described) throws IOException {
    String format = described.get(FORMAT).map(JsonValue::toJson).orElse("");
    if (!format.equals("1")) {
      throw format.matches("\\d+")
          ? new IOException("it was written by a newer version of Lectus")
          : damaged();
    }
    String database = StoredImage.text(described, "database", ".*");
    if (!DatabaseName.isLegal(database)
        || !(described.get("images").orElse(null) instanceof JsonArray images)) {
      throw damaged();
    }
    BackupFolder backup =
        new BackupFolder(
            folder, database, StoredImage.text(described, "follower", "[a-z0-9_-]{1,64}"));
    for (JsonValue image : images.elements()) {
      if (!(image instanceof JsonObject it)) {
        throw damaged();
      }
      backup.images.add(StoredImage.of(it));
    }
    return backup;
  }

  /**
   * Opens the backup of a database to add to it, and creates it if it is missing.
   *
   * @throws IOException a sentence; another command writes to it, or it is damaged
   */
  static BackupFolder write(Path root, String database) throws IOException {
    if (!DatabaseName.isLegal(database)) {
      throw new IOException("this is no name of a database");
    }
    Path folder = of(root, database);
    Files.createDirectories(folder, DurableFile.permissions(root.toAbsolutePath(), OWNER_ALONE));
    FileChannel lock =
        DurableFile.open(
            folder.resolve(LOCK), Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE));
    try {
      if (lock.tryLock() == null || !Files.exists(folder.resolve(LOCK))) {
        throw new IOException("another command writes to " + folder);
      }
      boolean isNew = !Files.exists(folder.resolve(DESCRIPTION));
      BackupFolder backup =
          isNew ? new BackupFolder(folder, database, UUID.randomUUID().toString()) : read(folder);
      if (!backup.database.equals(database)) {
        throw new IOException(folder + " has a backup of " + backup.database);
      }
      backup.lock = Optional.of(lock);
      backup.removeRemains();
      return backup;
    } catch (OverlappingFileLockException held) {
      lock.close();
      throw new IOException("another command writes to " + folder, held);
    } catch (IOException | RuntimeException failure) {
      lock.close();
      throw failure;
    }
  }

  private void removeRemains() throws IOException {
    for (Path file : unknown()) {
      if (isRemains(file)) {
        Files.delete(file);
      }
    }
  }

  /** Returns the files that are neither named by the description nor of an image that it names. */
  private List<Path> unknown() throws IOException {
    Set<String> known = images.stream().map(StoredImage::file).collect(Collectors.toSet());
    known.addAll(Set.of(DESCRIPTION, LOCK));
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(it -> !isOfOne(known, it.getFileName().toString())).sorted().toList();
    }
  }

  private static boolean isOfOne(Set<String> known, String name) {
    return known.contains(name) || known.contains(name.replaceFirst("\\.[a-z]+$", SUFFIX));
  }

  /** Whether a file may be from a command that was killed. */
  private boolean isRemains(Path file) {
    String name = file.getFileName().toString();
    return name.equals(DESCRIPTION + ".new")
        || name.equals(next())
        || (name.matches("\\d{6,9}(\\.[a-z]+" + PART + "|\\.(?!image$)[a-z]+)")
            && numberOf(name) <= numberOf(next()))
        || (name.matches("\\d{6,9}" + SUFFIX)
            && images.stream().allMatch(it -> it.file().compareTo(name) > 0));
  }

  /** A larger number than the next image's was never given out: such a file is somebody else's. */
  private static int numberOf(String name) {
    return Integer.parseInt(name.substring(0, name.indexOf('.')));
  }

  /** Returns the name of the next image. Numbers rise, whatever was removed. */
  private String next() {
    int last = images.stream().mapToInt(it -> numberOf(it.file())).max().orElse(0);
    return String.format("%06d%s", last + 1, SUFFIX);
  }

  String database() {
    return database;
  }

  /** Returns the name under which the server remembers what the next increment needs. */
  String follower() {
    return follower;
  }

  List<StoredImage> images() {
    return List.copyOf(images);
  }

  Path fileOf(StoredImage image) {
    return folder.resolve(image.file());
  }

  private static String contentsOf(String image) {
    return image.replace(SUFFIX, CONTENTS);
  }

  /** Returns the contents that the images have behind which the next increment comes. */
  HeldContents held() throws IOException {
    HeldContents held = new HeldContents();
    for (StoredImage image : chainTo(Optional.empty())) {
      if (readContents(image, held)) {
        continue;
      }
      try (InputStream content = Files.newInputStream(fileOf(image))) {
        parse(content, OutputStream.nullOutputStream(), held, any -> {});
        writeContents(image, held);
      } catch (IOException damaged) {
        // Those that are not known come again.
        held.missSome();
      }
    }
    return held;
  }

  /** Returns whether the image's own list was there. */
  private boolean readContents(StoredImage image, HeldContents held) throws IOException {
    Path file = folder.resolve(contentsOf(image.file()));
    if (!Files.exists(file)) {
      return false;
    }
    try (InputStream list = new BufferedInputStream(Files.newInputStream(file))) {
      boolean isOfImage =
          HexFormat.of().formatHex(list.readNBytes(DIGEST_BYTES)).equals(image.sha256());
      byte[] next = list.readNBytes(DIGEST_BYTES);
      while (isOfImage && next.length == DIGEST_BYTES) {
        held.add(ContentId.of(next));
        next = list.readNBytes(DIGEST_BYTES);
      }
      return isOfImage;
    }
  }

  private void writeContents(StoredImage image, HeldContents held) throws IOException {
    Path file = folder.resolve(contentsOf(image.file()));
    Path part = folder.resolve(file.getFileName() + PART);
    try (OutputStream list =
        new BufferedOutputStream(
            Channels.newOutputStream(DurableFile.open(part, DurableFile.WRITING)))) {
      list.write(HexFormat.of().parseHex(image.sha256()));
      for (ContentId content : held.added()) {
        list.write(content.bytes());
      }
    }
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
  }

  /**
   * Returns the image from which the next increment can go on: the last one, if the files of its
   * chain are there in their lengths.
   */
  Optional<StoredImage> last() throws IOException {
    if (images.isEmpty()) {
      return Optional.empty();
    }
    List<StoredImage> chain = chainTo(Optional.empty());
    for (StoredImage image : chain) {
      Path file = fileOf(image);
      if (!Files.exists(file) || Files.size(file) != image.bytes()) {
        return Optional.empty();
      }
    }
    return Optional.of(chain.get(chain.size() - 1));
  }

  /**
   * Returns the images that make the database as it was at a sequence, in the order in which they
   * are restored.
   *
   * @param at the sequence of one of the images; empty: the last one
   * @throws IOException no image ends there
   */
  List<StoredImage> chainTo(Optional<String> at) throws IOException {
    int last = images.size() - 1;
    while (last >= 0 && at.isPresent() && !images.get(last).sequence().equals(at.get())) {
      last--;
    }
    int first = last;
    while (first >= 0 && images.get(first).since().isPresent()) {
      first--;
    }
    if (first < 0) {
      throw new IOException(
          at.map(it -> "no image ends at the sequence " + it + "; \"lectus verify\" lists them")
              .orElse("there is no image of the whole database"));
    }
    return List.copyOf(images.subList(first, last + 1));
  }

  /**
   * Adds an image, which is on disk when this returns.
   *
   * @param sent is checked while it is written
   * @param since from which an increment was asked for; empty: the whole database
   * @param held the contents that it need not have
   * @param progress is told of each few bytes
   * @throws IOException a sentence; nothing was added
   */
  StoredImage add(
      InputStream sent, Optional<String> since, HeldContents held, LongConsumer progress)
      throws IOException {
    String name = next();
    Path part = folder.resolve(name + PART);
    StoredImage added;
    try (FileChannel channel = DurableFile.open(part, DurableFile.WRITING);
        OutputStream file = Channels.newOutputStream(channel)) {
      ImageParser found = parse(sent, file, held, progress);
      added = describe(found, name, channel.size());
      // Its name may be another: that of the place to which the database has moved.
      if (!added.since().equals(since)) {
        throw new IOException("the server sent another image than was asked for");
      }
      if (since.isPresent() && !added.follows(last())) {
        throw new AnotherInstanceException();
      }
      if (held.lacking().isPresent()) {
        throw new LackingContentException(held.lacking().get());
      }
      channel.force(true);
    } catch (IOException | RuntimeException failure) {
      Files.deleteIfExists(part);
      throw failure;
    }
    writeContents(added, held);
    Files.move(part, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    DurableFile.syncDirectory(folder);
    images.add(added);
    describe();
    return added;
  }

  /**
   * Reads an image to its end.
   *
   * @throws IOException it cannot be read, or is no whole image
   */
  private static ImageParser parse(
      InputStream image, OutputStream copy, HeldContents held, LongConsumer progress)
      throws IOException {
    ImageParser parser = new ImageParser(held::take);
    byte[] buffer = new byte[BUFFER];
    try {
      for (int read = image.read(buffer); read >= 0; read = image.read(buffer)) {
        parser.take(buffer, 0, read);
        copy.write(buffer, 0, read);
        progress.accept(read);
      }
      parser.finish();
      return parser;
    } catch (LectusException damaged) {
      String reason = damaged.error().reason();
      throw new IOException(
          reason.substring(0, 1).toLowerCase(Locale.ROOT)
              + reason.substring(1).replaceFirst("\\.$", ""),
          damaged);
    }
  }

  private static StoredImage describe(ImageParser image, String file, long bytes) {
    Header header = image.header().orElseThrow();
    End end = image.end().orElseThrow();
    return new StoredImage(
        file,
        header.instance().hex(),
        header.since().map(Sequence::toString),
        end.sequence().toString(),
        Instant.ofEpochSecond(header.begunAtSeconds()).toString(),
        bytes,
        HexFormat.of().formatHex(end.sha256()));
  }

  /** Returns images one after the other, as they are restored. */
  InputStream content(List<StoredImage> chain, LongConsumer progress) {
    Iterator<StoredImage> left = chain.iterator();
    return new SequenceInputStream(
        new Enumeration<>() {
          @Override
          public boolean hasMoreElements() {
            return left.hasNext();
          }

          @Override
          public InputStream nextElement() {
            try {
              StoredImage image = left.next();
              progress.accept(image.bytes());
              return Files.newInputStream(folder.resolve(image.file()));
            } catch (IOException unreadable) {
              throw new UncheckedIOException(unreadable);
            }
          }
        });
  }

  /** Removes all but the last so many chains. */
  void keep(int chains) throws IOException {
    int first = images.size();
    for (int left = chains; first > 0 && left > 0; ) {
      first--;
      left -= images.get(first).since().isEmpty() ? 1 : 0;
    }
    if (first == 0) {
      return;
    }
    images.subList(0, first).clear();
    describe();
    removeRemains();
  }

  private void describe() throws IOException {
    JsonBuffer json = new JsonBuffer(1_024).ascii("{\"").ascii(FORMAT).ascii("\":1,\"database\":");
    json.string(database)
        .ascii(",\"follower\":")
        .string(follower)
        .ascii(",\"images\":[")
        .each(images, it -> it.appendTo(json));
    DurableFile.replace(folder.resolve(DESCRIPTION), json.ascii("\n]}\n").toString());
    DurableFile.syncDirectory(folder);
  }

  /**
   * Reads all images and compares them with their description and with each other.
   *
   * @param progress is told of each few bytes
   * @return a sentence without its full stop for each damage; empty: the backup is whole
   */
  List<String> verify(LongConsumer progress) throws IOException {
    List<String> damages = new ArrayList<>(verify(images, progress));
    if (images.isEmpty()) {
      damages.add("there is no image");
    }
    for (Path file : unknown()) {
      if (!isRemains(file)) {
        damages.add(file.getFileName() + " is no file of this backup");
      }
    }
    return damages;
  }

  /** As above, with images that follow each other. */
  List<String> verify(List<StoredImage> chain, LongConsumer progress) {
    List<String> damages = new ArrayList<>();
    Optional<StoredImage> before = Optional.empty();
    HeldContents held = new HeldContents();
    for (StoredImage image : chain) {
      boolean isAlone = image.since().isPresent() && !image.follows(before);
      if (isAlone) {
        held.missSome();
      }
      Optional<String> damage = verify(image, held, progress);
      if (damage.isPresent()) {
        damages.add(image.file() + " " + damage.get());
        held.missSome();
      }
      if (isAlone) {
        damages.add("the image before " + image.file() + " is missing");
      }
      before = Optional.of(image);
    }
    return damages;
  }

  private Optional<String> verify(StoredImage image, HeldContents held, LongConsumer progress) {
    Path file = fileOf(image);
    if (!Files.exists(file)) {
      return Optional.of("is missing");
    }
    try (InputStream content = Files.newInputStream(file)) {
      ImageParser found = parse(content, OutputStream.nullOutputStream(), held, progress);
      boolean isAsWritten = describe(found, image.file(), Files.size(file)).equals(image);
      return isAsWritten
          ? held.lacking().map(it -> "lacks an attachment of the document " + it)
          : Optional.of("is another image than was written");
    } catch (IOException damage) {
      return Optional.of("cannot be used: " + damage.getMessage());
    }
  }

  /** Of a backup that has not begun nothing stays. */
  @Override
  public void close() throws IOException {
    if (lock.isEmpty()) {
      return;
    }
    try (FileChannel held = lock.get()) {
      if (held.isOpen() && !Files.exists(folder.resolve(DESCRIPTION))) {
        Files.delete(folder.resolve(LOCK));
        if (isEmpty(folder)) {
          Files.delete(folder);
        }
      }
    }
  }

  private static boolean isEmpty(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.findAny().isEmpty();
    }
  }
}
