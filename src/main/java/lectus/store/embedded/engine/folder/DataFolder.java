package lectus.store.embedded.engine.folder;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import lectus.error.StoreOpenException;
import lectus.store.embedded.engine.folder.LogRecord.LogRecordFile;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The folder of a store: its owner, its format, and whether it may be opened.
 *
 * <pre>
 * lectus.format    "lectus embedded store\nformat 1\n"; written last, when the store is complete
 * lectus.creating  exists while a new store is created; nothing was acknowledged yet
 * lectus.lock      locked by the process that has the store open, whose number it has
 * lectus.logs      how much of RocksDB's logs was synced when last recorded: {@link LogRecord}
 * rocks/           RocksDB's files
 * checkpoint/      a data folder that shares files with this one, for tools that copy it
 * </pre>
 */
public final class DataFolder implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DataFolder.class);

  /** RocksDB makes its files readable by everybody, so its folder may not be entered. */
  private static final String OWNER_ALONE = "rwx------";

  private static final String OWNER_AND_GROUP = "rwxrwx---";

  private static final int FORMAT = 1;
  private static final String HEADER = "lectus embedded store\nformat ";
  private static final int MAX_FORMAT_FILE_BYTES = 1024;
  private static final String FORMAT_FILE = "lectus.format";
  private static final String CREATING_FILE = "lectus.creating";
  private static final String LOCK_FILE = "lectus.lock";
  private static final String ROCKS_FOLDER = "rocks";
  private static final String CHECKPOINT_FOLDER = "checkpoint";
  private static final Set<String> HARMLESS = Set.of(LOCK_FILE, "lost+found");

  private final Path folder;
  private final FileChannel lockChannel;
  private final boolean isHolder;
  private final boolean isNew;

  private DataFolder(Path folder, FileChannel lockChannel, boolean isHolder, boolean isNew) {
    this.folder = folder;
    this.lockChannel = lockChannel;
    this.isHolder = isHolder;
    this.isNew = isNew;
  }

  /**
   * Takes the folder for this process. A missing or empty one becomes a new store.
   *
   * @throws StoreOpenException if it cannot be taken; nothing in it was changed then
   */
  public static DataFolder take(Path folder) {
    try {
      checkKind(folder);
      Files.createDirectories(folder, DurableFile.permissions(folder, OWNER_ALONE));
      FileChannel lock = lock(folder);
      try {
        boolean isNew = checkKind(folder);
        closeToOthers(folder, isNew);
        write(lock, ProcessHandle.current().pid() + "\n");
        return new DataFolder(folder, lock, true, isNew);
      } catch (IOException | RuntimeException failure) {
        lock.close();
        throw failure;
      }
    } catch (AccessDeniedException denied) {
      throw new StoreOpenException(
          "The data directory " + folder + " cannot be read and written by this user.", denied);
    } catch (IOException failure) {
      throw new StoreOpenException(
          "The data directory " + folder + " cannot be used: " + reason(failure) + ".", failure);
    }
  }

  /** Returns whether the folder holds a complete store, sound or not. */
  public static boolean isStore(Path folder) {
    return Files.exists(folder.resolve(FORMAT_FILE));
  }

  /**
   * Takes a folder again that this process has had. Never creates a store, because the server
   * continues with its knowledge of the old one.
   *
   * @throws StoreOpenException as {@link #take}, and if the store is gone, perhaps with its disk
   */
  public static DataFolder takeAgain(Path folder) {
    if (!isStore(folder)) {
      throw new StoreOpenException("The store is gone from the data directory " + folder + ".");
    }
    return take(folder);
  }

  /**
   * Keeps writers off a folder that is to be read. Nothing in it changes.
   *
   * @throws StoreOpenException if it holds no store, cannot be read, or a process has it open
   */
  public static DataFolder look(Path folder) {
    try {
      if (checkKind(folder)) {
        throw new StoreOpenException("The data directory " + folder + " holds no Lectus store.");
      }
      return new DataFolder(folder, lockShared(folder), false, false);
    } catch (IOException failure) {
      throw new StoreOpenException(
          "The data directory " + folder + " cannot be read: " + reason(failure) + ".", failure);
    }
  }

  public Path folder() {
    return folder;
  }

  public Path rocks() {
    return folder.resolve(ROCKS_FOLDER);
  }

  /** Returns whether the store is yet to be created, followed by {@link #finishCreation}. */
  public boolean isNew() {
    return isNew;
  }

  /** Removes the remains of an interrupted creation and marks a new one as under way. */
  public void beginCreation() {
    try {
      DurableFile.write(folder.resolve(CREATING_FILE), "");
      deleteTree(rocks());
      logRecord().delete();
      Files.createDirectories(rocks(), DurableFile.permissions(folder, OWNER_ALONE));
      DurableFile.syncDirectory(folder);
    } catch (IOException failure) {
      throw new StoreOpenException(
          "The data directory " + folder + " cannot be written: " + reason(failure) + ".", failure);
    }
  }

  /** Marks the new store as complete. */
  public void finishCreation() {
    try {
      DurableFile.replace(folder.resolve(FORMAT_FILE), HEADER + FORMAT + "\n");
      Files.deleteIfExists(folder.resolve(CREATING_FILE));
      DurableFile.syncDirectory(folder);
    } catch (IOException failure) {
      throw new StoreOpenException(
          "The data directory " + folder + " cannot be written: " + reason(failure) + ".", failure);
    }
  }

  /**
   * Makes a folder within this one that is a data folder by itself and holds what was synced when
   * this was called. It takes the place of the one before.
   *
   * @param rocks makes the folder of RocksDB's files, with links to those that never change
   */
  public Path checkpoint(RocksCopy rocks) throws IOException, RocksDBException {
    Path place = folder.resolve(CHECKPOINT_FOLDER);
    Path draft = folder.resolve(CHECKPOINT_FOLDER + ".new");
    deleteTree(draft);
    Files.createDirectory(draft, DurableFile.permissions(folder, OWNER_ALONE));
    // Read first: a record may be behind the logs, never ahead.
    LogRecord synced = logRecord().read();
    rocks.make(draft.resolve(ROCKS_FOLDER));
    new LogRecordFile(draft).write(synced);
    DurableFile.write(draft.resolve(FORMAT_FILE), HEADER + FORMAT + "\n");
    DurableFile.syncDirectory(draft);
    deleteTree(place);
    Files.move(draft, place, StandardCopyOption.ATOMIC_MOVE);
    DurableFile.syncDirectory(folder);
    return place;
  }

  /** Makes a folder of RocksDB's files. */
  public interface RocksCopy {
    void make(Path folder) throws RocksDBException;
  }

  public LogRecordFile logRecord() {
    return new LogRecordFile(folder);
  }

  /** Returns the operating system's reason, without Java's class names. */
  public static String reason(IOException failure) {
    if (failure instanceof FileSystemException said && said.getReason() != null) {
      return said.getReason();
    }
    if (failure instanceof AccessDeniedException) {
      return "Permission denied";
    }
    if (failure instanceof NoSuchFileException) {
      return "No such file or directory";
    }
    if (failure instanceof FileAlreadyExistsException) {
      return "File exists";
    }
    if (failure instanceof DirectoryNotEmptyException) {
      return "Directory not empty";
    }
    return failure instanceof FileSystemException
        ? "The system says no reason"
        : String.valueOf(failure.getMessage());
  }

  @Override
  public void close() {
    if (isHolder) {
      // The next process may only read the store, and writes no number.
      write(lockChannel, "");
    }
    try {
      lockChannel.close();
    } catch (IOException failure) {
      throw new java.io.UncheckedIOException(failure);
    }
  }

  /**
   * Returns whether there is no store yet. Throws if the folder holds anything but a store of this
   * format.
   */
  private static boolean checkKind(Path folder) throws IOException {
    if (Files.exists(folder) && !Files.isDirectory(folder)) {
      throw StoreOpenException.foreign("The data directory " + folder + " is not a directory.");
    }
    Path format = folder.resolve(FORMAT_FILE);
    if (Files.exists(format)) {
      checkFormat(folder, format);
      return false;
    }
    if (Files.exists(folder) && !Files.exists(folder.resolve(CREATING_FILE))) {
      checkEmpty(folder);
    }
    return true;
  }

  private static void checkFormat(Path folder, Path file) throws IOException {
    String content = DurableFile.readShort(file, MAX_FORMAT_FILE_BYTES);
    String number = content.startsWith(HEADER) ? content.substring(HEADER.length()) : "";
    if (!number.matches("[1-9][0-9]{0,8}\n")) {
      throw StoreOpenException.damage(
          "The data directory " + folder + " is damaged: " + FORMAT_FILE + " is not readable.");
    }
    int found = Integer.parseInt(number.strip());
    if (found > FORMAT) {
      throw StoreOpenException.foreign(
          "The data directory "
              + folder
              + " was written by a newer version of Lectus: its format is "
              + found
              + ", this version reads up to "
              + FORMAT
              + ".");
    }
    if (!Files.isDirectory(folder.resolve(ROCKS_FOLDER))) {
      throw StoreOpenException.damage(
          "The data directory " + folder + " is damaged: " + ROCKS_FOLDER + " is missing.");
    }
  }

  private static void checkEmpty(Path folder) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      if (entries.anyMatch(entry -> !HARMLESS.contains(entry.getFileName().toString()))) {
        throw StoreOpenException.foreign(
            "The data directory " + folder + " is not empty and holds no Lectus store.");
      }
    }
  }

  /**
   * Takes other users' permissions from the empty folder of a new store. An existing store's may be
   * meant, so they are only warned of. A group that may write is meant in any case: containers
   * whose users have no name get at their volumes by it.
   */
  private static void closeToOthers(Path folder, boolean isNew) throws IOException {
    if (!DurableFile.hasPermissions(folder)) {
      return;
    }
    Set<PosixFilePermission> found = Files.getPosixFilePermissions(folder);
    Set<PosixFilePermission> meant =
        PosixFilePermissions.fromString(
            found.contains(PosixFilePermission.GROUP_WRITE) ? OWNER_AND_GROUP : OWNER_ALONE);
    if (meant.containsAll(found)) {
      return;
    }
    if (isNew) {
      try {
        Set<PosixFilePermission> kept = EnumSet.copyOf(meant);
        kept.retainAll(found);
        Files.setPosixFilePermissions(folder, kept);
        return;
      } catch (IOException notOwner) {
        LOG.debug("The permissions of {} cannot be changed", folder, notOwner);
      }
    }
    LOG.warn(
        "Other users of this machine may enter the data directory {} ({}), which holds the hashes"
            + " of passwords. \"chmod {}\" closes it.",
        folder,
        PosixFilePermissions.toString(found),
        found.contains(PosixFilePermission.GROUP_WRITE) ? "o-rwx" : "700");
  }

  private static FileChannel lock(Path folder) throws IOException {
    Set<StandardOpenOption> options = Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    return locked(folder, DurableFile.open(folder.resolve(LOCK_FILE), options), false);
  }

  /** A store copied without its lock file is locked by its format file, which is never written. */
  private static FileChannel lockShared(Path folder) throws IOException {
    Path file = folder.resolve(LOCK_FILE);
    Path existing = Files.exists(file) ? file : folder.resolve(FORMAT_FILE);
    return locked(folder, FileChannel.open(existing, StandardOpenOption.READ), true);
  }

  private static FileChannel locked(Path folder, FileChannel channel, boolean shared)
      throws IOException {
    try {
      FileLock lock = channel.tryLock(0, Long.MAX_VALUE, shared);
      if (lock != null) {
        return channel;
      }
    } catch (OverlappingFileLockException heldHere) {
      channel.close();
      throw StoreOpenException.held(
          "The data directory " + folder + " is already open in this process.", heldHere);
    }
    channel.close();
    throw StoreOpenException.held(
        "The data directory " + folder + " is in use by another process" + holder(folder) + ".");
  }

  /** A process that only reads leaves the file alone. A full disk does not stop a start. */
  private static void write(FileChannel lock, String holder) {
    try {
      lock.truncate(0);
      lock.write(StandardCharsets.US_ASCII.encode(holder), 0);
    } catch (IOException unnamed) {
      LOG.debug("The lock file cannot be written", unnamed);
    }
  }

  /**
   * Returns the number of the process that holds the lock, unless that is not sure. In another
   * container it may have the number that this process has in its own.
   */
  private static String holder(Path folder) {
    try {
      String pid = DurableFile.readShort(folder.resolve(LOCK_FILE), MAX_FORMAT_FILE_BYTES).strip();
      boolean isOther =
          pid.matches("[0-9]{1,18}")
              && Long.parseLong(pid) != ProcessHandle.current().pid()
              && ProcessHandle.of(Long.parseLong(pid)).isPresent();
      return isOther ? " (pid " + pid + ")" : "";
    } catch (IOException notReadable) {
      return "";
    }
  }

  private static void deleteTree(Path root) throws IOException {
    if (!Files.exists(root)) {
      return;
    }
    try (Stream<Path> tree = Files.walk(root)) {
      List<Path> deepestFirst = tree.sorted(Comparator.reverseOrder()).toList();
      for (Path path : deepestFirst) {
        Files.delete(path);
      }
    }
  }
}
