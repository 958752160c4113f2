package lectus.attachment;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;

/**
 * The attachments of a leaf, each with another name. As tuple elements, one after the other: name,
 * type, SHA-256, MD5, length, stored length, whether it is stored compressed, position.
 */
public record AttachmentList(List<Attachment> all) {
  public static final AttachmentList NONE = new AttachmentList(List.of());

  public AttachmentList {
    all = List.copyOf(all);
  }

  public Optional<Attachment> named(String name) {
    return all.stream().filter(it -> it.name().equals(name)).findFirst();
  }

  public Set<ContentId> contents() {
    Set<ContentId> contents = new LinkedHashSet<>();
    all.forEach(it -> contents.add(it.content()));
    return contents;
  }

  /** Returns the length of all before they were encoded, in bytes. */
  public long length() {
    long length = 0;
    for (Attachment attachment : all) {
      length += attachment.length();
    }
    return length;
  }

  /** Returns the length of the contents as they are stored, each once, in bytes. */
  public long storedLength() {
    Set<ContentId> counted = new HashSet<>();
    return all.stream()
        .filter(it -> counted.add(it.content()))
        .mapToLong(Attachment::storedLength)
        .sum();
  }

  /** Returns the length of what {@link #writeTo} writes, in bytes. */
  public int encodedLength() {
    TupleWriter value = new TupleWriter(256);
    writeTo(value);
    return value.length();
  }

  public void writeTo(TupleWriter value) {
    for (Attachment it : all) {
      value.string(it.name()).string(it.type()).bytes(it.content().bytes());
      value.bytes(it.md5().bytes()).integer(it.length()).integer(it.storedLength());
      value.bool(it.gzipped()).integer(it.position());
    }
  }

  /** Reads up to the end, or a nil. */
  public static AttachmentList readFrom(TupleReader reader) {
    List<Attachment> all = new ArrayList<>();
    while (reader.hasNext() && !reader.isNil()) {
      all.add(
          new Attachment(
              reader.string(),
              reader.string(),
              ContentId.of(reader.bytes()),
              Md5.of(reader.bytes()),
              reader.integer(),
              reader.integer(),
              reader.bool(),
              reader.integer()));
    }
    return new AttachmentList(all);
  }

  /** Returns what distinguishes revisions: names, types and MD5s, sorted by name. */
  public byte[] identity() {
    TupleWriter identity = new TupleWriter(64);
    all.stream()
        .sorted(Comparator.comparing(Attachment::name))
        .forEach(it -> identity.string(it.name()).string(it.type()).bytes(it.md5().bytes()));
    return identity.nil().toBytes();
  }
}
