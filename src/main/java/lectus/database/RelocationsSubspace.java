package lectus.database;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import lectus.database.Catalogue.DatabaseInstance;
import lectus.database.Whereabouts.Secret;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.Awaiting;
import lectus.store.RootSubspace;
import lectus.store.Versionstamp;

/**
 * Relocations of databases, as the place knows them that a database leaves, and as the other place
 * does. That remembers of a relocation the last attempt: an earlier one is aborted. A message may
 * be late, so what was aborted is remembered for a week; that a database was opened, until the
 * place that it left has said that it knows.
 *
 * <pre>
 * key                                        value
 * (root, RELOCATIONS, 0, id)                  (format, phase, database, instance, URL of the other
 *                                            place, name there, user, password, secret, attempt,
 *                                            images, given up, seconds since 1970 at its beginning, reason
 *                                            [, seconds for which requests are passed on])
 * (root, RELOCATIONS, 1, id, attempt)         (format, standing[, database, instance, prefix,
 *                                            seconds since 1970 at creation, images[, Sequence or nil
 *                                            [, place, doc id, upload]]]): what arrives; (format, 4[,
 *                                            read version when it was aborted]): it will not be here
 * (root, RELOCATIONS, 2, name)                (format, instance): the name is kept for a database
 *                                            that arrives
 * </pre>
 */
public final class RelocationsSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A relocation");
  private static final int DEPARTURES = 0;
  private static final int ARRIVALS = 1;
  private static final int NAMES = 2;

  /** A week. */
  public static final long REMEMBERED_VERSIONS = 7L * 24 * 3_600 * 1_000_000;

  private static final int SWEPT_AT_ONCE = 1_000;

  private final byte[] root;

  public RelocationsSubspace(byte[] root) {
    this.root = root.clone();
  }

  /** How far a database is that leaves. Numbers are stored. */
  public enum Phase {
    /** It is written here, and copied. */
    COPYING(1),
    /** It is written nowhere, until it is known whether the other place has taken over. */
    FROZEN(2),
    /** The other place has taken over. */
    MOVED(3),
    /** It stays here. */
    ENDED(4);

    private final int number;

    Phase(int number) {
      this.number = number;
    }

    public boolean isOver() {
      return this == MOVED || this == ENDED;
    }
  }

  /**
   * A database that leaves.
   *
   * @param other what is asked for: the URL of the other server, without a user, the name of the
   *     database there, and who is logged in there, if anybody
   * @param attempt of copying; each is known to the other place as one of its own
   * @param images of the attempt that were sent before the last one; of one that is frozen
   * @param reason why it does not go on, or has ended
   * @param forwardSeconds for how long requests are passed on; empty: as long as nobody ends that
   */
  public record Departure(
      String id,
      Phase phase,
      DatabaseName database,
      InstanceId instance,
      OtherPlace other,
      Secret secret,
      long attempt,
      long images,
      boolean givenUp,
      long begunSeconds,
      String reason,
      OptionalLong forwardSeconds) {

    /** Returns it while the last image is on its way. */
    public Departure frozenAfter(long sent) {
      return with(Phase.FROZEN, other, attempt, sent, givenUp, "");
    }

    /** Returns it in another phase. Once it is over nobody has to log in any more. */
    public Departure in(Phase next, String why) {
      OtherPlace place =
          next.isOver() ? new OtherPlace(other.server, other.name, "", new Secret("")) : other;
      return with(next, place, attempt, images, givenUp, why);
    }

    public Departure atAttempt(long next) {
      return with(phase, other, next, images, givenUp, reason);
    }

    public Departure asGivenUp() {
      return with(phase, other, attempt, images, true, reason);
    }

    private Departure with(
        Phase its, OtherPlace place, long number, long sent, boolean isGivenUp, String why) {
      return new Departure(
          id,
          its,
          database,
          instance,
          place,
          secret,
          number,
          sent,
          isGivenUp,
          begunSeconds,
          why,
          forwardSeconds);
    }
  }

  /**
   * Where a database is to go.
   *
   * @param server its URL, without a user, with a slash at its end
   */
  public record OtherPlace(String server, DatabaseName name, String user, Secret password) {
    /** Returns the URL of the database there, without a user. */
    public String url() {
      return server + URLEncoder.encode(name.text(), StandardCharsets.UTF_8);
    }
  }

  /**
   * An attempt to bring a database to another place.
   *
   * @param id of the relocation
   */
  public record Attempt(String id, long number) {}

  /** How far a database is that arrives. Numbers are stored. */
  public enum Standing {
    /** It comes. */
    RECEIVING(1),
    /** It is whole, and nobody finds it. */
    READY(2),
    /** It is here. */
    OPEN(3),
    /** It will not be here; or it is, and nobody has to be told any more. */
    ABORTED(4);

    private final int number;

    Standing(int number) {
      this.number = number;
    }
  }

  /**
   * What has become of an attempt to bring a database here.
   *
   * @param life empty if it was given up before anything came
   * @param images how many are whole, increments included
   * @param last up to which sequence it has come; empty before any image is whole
   * @param reached from where another attempt can go on; empty if none can
   */
  public record Arrival(
      Standing standing,
      Optional<DatabaseInstance> life,
      long createdAtSeconds,
      long images,
      Optional<Sequence> last,
      Optional<Reached> reached) {

    /** Nothing has come, or nothing of it is left. */
    public static Arrival without(Standing standing) {
      return new Arrival(standing, Optional.empty(), 0, 0, Optional.empty(), Optional.empty());
    }

    /** Nothing of it has come yet. */
    public static Arrival receiving(DatabaseInstance life) {
      return new Arrival(
          Standing.RECEIVING, Optional.of(life), 0, 0, Optional.empty(), Optional.empty());
    }

    /** Returns it as it is when it does not come any more. */
    public Arrival in(Standing next) {
      return new Arrival(next, life, createdAtSeconds, images, last, Optional.empty());
    }

    public Arrival at(Reached next) {
      return new Arrival(standing, life, createdAtSeconds, images, last, Optional.of(next));
    }
  }

  /**
   * How far the stream of an attempt has come.
   *
   * @param place as the other place understands it: all before is stored
   * @param document one behind it that may be stored in part; empty: none
   * @param upload the same of a content of attachments; empty: none
   */
  public record Reached(byte[] place, String document, String upload) {
    public static Reached exactly(byte[] place) {
      return new Reached(place, "", "");
    }

    public Reached within(String its) {
      return new Reached(place, its, upload);
    }

    public Reached storing(String its) {
      return new Reached(place, document, its);
    }
  }

  public Range range() {
    return RootSubspace.RELOCATIONS.range(root);
  }

  private TupleWriter key(int kind) {
    return RootSubspace.RELOCATIONS.key(root).integer(kind);
  }

  public void put(Transaction tx, Departure it) {
    TupleWriter value = new TupleWriter(256).integer(FORMAT.number()).integer(it.phase().number);
    value.string(it.database().text()).string(it.instance().hex());
    value.string(it.other().server()).string(it.other().name().text());
    value.string(it.other().user()).string(it.other().password().text());
    value.string(it.secret().text()).integer(it.attempt()).integer(it.images()).bool(it.givenUp());
    value.integer(it.begunSeconds()).string(it.reason());
    it.forwardSeconds().ifPresent(value::integer);
    tx.set(key(DEPARTURES).string(it.id()).toBytes(), value.toBytes());
  }

  public void clear(Transaction tx, String id) {
    tx.clear(key(DEPARTURES).string(id).toBytes());
  }

  public Optional<Departure> departure(ReadTransaction tx, String id) {
    byte[] key = key(DEPARTURES).string(id).toBytes();
    return Optional.ofNullable(Awaiting.await(tx.get(key)))
        .map(it -> departure(new KeyValue(key, it)));
  }

  /** Returns all that were begun here and not removed. */
  public List<Departure> departures(ReadTransaction tx) {
    Range all = Range.startsWith(key(DEPARTURES).toBytes());
    return Awaiting.await(tx.getRange(all).asList()).stream().map(this::departure).toList();
  }

  private Departure departure(KeyValue row) {
    String id = new TupleReader(row.getKey(), key(DEPARTURES).length()).only(TupleReader::string);
    TupleReader value = FORMAT.reader(row.getValue());
    Departure departure =
        new Departure(
            id,
            phase(value.smallInteger()),
            new DatabaseName(value.string()),
            new InstanceId(value.string()),
            new OtherPlace(
                value.string(),
                new DatabaseName(value.string()),
                value.string(),
                new Secret(value.string())),
            new Secret(value.string()),
            value.integer(),
            value.integer(),
            value.bool(),
            value.integer(),
            value.string(),
            value.hasNext() ? OptionalLong.of(value.integer()) : OptionalLong.empty());
    value.end();
    return departure;
  }

  private static Phase phase(int number) {
    for (Phase phase : Phase.values()) {
      if (phase.number == number) {
        return phase;
      }
    }
    throw StoredFormat.newer("The phase of a relocation", number, Phase.values().length);
  }

  public void put(Transaction tx, Attempt attempt, Arrival it) {
    TupleWriter value = new TupleWriter(128).integer(FORMAT.number()).integer(it.standing().number);
    if (it.life().isPresent()) {
      DatabaseInstance life = it.life().get();
      value.string(life.name().text()).string(life.instance().hex()).bytes(life.prefix());
      value.integer(it.createdAtSeconds()).integer(it.images());
      if (it.reached().isPresent()) {
        it.last().ifPresentOrElse(last -> last.writeTo(value), value::nil);
        Reached reached = it.reached().get();
        value.bytes(reached.place()).string(reached.document()).string(reached.upload());
      } else {
        it.last().ifPresent(last -> last.writeTo(value));
      }
    }
    tx.set(key(attempt), value.toBytes());
  }

  /** Notes that an attempt opens nothing. */
  public void abort(Transaction tx, Attempt attempt) {
    abort(tx, attempt, Awaiting.await(tx.getReadVersion()));
  }

  void abort(Transaction tx, Attempt attempt, long version) {
    TupleWriter value = new TupleWriter(16).integer(FORMAT.number());
    tx.set(key(attempt), value.integer(Standing.ABORTED.number).integer(version).toBytes());
  }

  /** Notes that an attempt begins, and forgets those before it. */
  public void begin(Transaction tx, Attempt attempt, DatabaseInstance life) {
    Range before = new Range(arrivalsOf(attempt.id()).begin, key(attempt));
    for (KeyValue row : Awaiting.await(tx.getRange(before).asList())) {
      if (arrival(row.getValue()).standing() == Standing.ABORTED) {
        tx.clear(row.getKey());
      }
    }
    put(tx, attempt, Arrival.receiving(life));
    reserve(tx, life);
  }

  private byte[] key(Attempt attempt) {
    return key(ARRIVALS).string(attempt.id()).integer(attempt.number()).toBytes();
  }

  private Range arrivalsOf(String id) {
    return Range.startsWith(key(ARRIVALS).string(id).toBytes());
  }

  /** Returns what has become of an attempt; empty if nothing is known of it or a later one. */
  public Optional<Arrival> arrival(ReadTransaction tx, Attempt attempt) {
    byte[] key = key(attempt);
    Range from = new Range(key, arrivalsOf(attempt.id()).end);
    return Awaiting.await(tx.getRange(from, 1).asList()).stream()
        .findFirst()
        .map(
            row ->
                Arrays.equals(row.getKey(), key)
                    ? arrival(row.getValue())
                    : Arrival.without(Standing.ABORTED));
  }

  /**
   * Forgets some of the attempts that were aborted long ago. One that was removed since nothing
   * came for long counts as aborted from now on.
   *
   * @param versions for how many they are remembered
   * @param from the key to begin with
   * @return the key to go on with; empty if there are no others
   */
  public Optional<byte[]> sweep(Transaction tx, long versions, Optional<byte[]> from) {
    Range all = Range.startsWith(key(ARRIVALS).toBytes());
    List<KeyValue> rows =
        Awaiting.await(
            tx.snapshot()
                .getRange(new Range(from.orElse(all.begin), all.end), SWEPT_AT_ONCE)
                .asList());
    rows.forEach(row -> sweep(tx, versions, row));
    return rows.size() < SWEPT_AT_ONCE
        ? Optional.empty()
        : Optional.of(rows.get(rows.size() - 1).getKey());
  }

  private void sweep(Transaction tx, long versions, KeyValue row) {
    Arrival it = arrival(row.getValue());
    long now = Awaiting.await(tx.getReadVersion());
    long at = it.standing() == Standing.ABORTED ? abortedAt(row.getValue()).orElse(now) : now;
    if (now - at > versions) {
      tx.clear(row.getKey());
    } else if (it.standing() != Standing.OPEN && at >= now) {
      abortUnlessItComes(tx, row, it);
    }
  }

  private void abortUnlessItComes(Transaction tx, KeyValue row, Arrival it) {
    boolean isSame = Arrays.equals(Awaiting.await(tx.get(row.getKey())), row.getValue());
    RestoresSubspace restores = new RestoresSubspace(root);
    boolean isComing =
        it.life()
            .filter(life -> Awaiting.await(restores.renewedAt(tx, life.instance())).isPresent())
            .isPresent();
    if (isSame && !isComing) {
      abort(tx, attempt(row.getKey()));
    }
  }

  private Attempt attempt(byte[] key) {
    TupleReader parts = new TupleReader(key, key(ARRIVALS).length());
    return new Attempt(parts.string(), parts.only(TupleReader::integer));
  }

  private static OptionalLong abortedAt(byte[] bytes) {
    TupleReader value = FORMAT.reader(bytes);
    value.smallInteger();
    return value.hasNext() ? OptionalLong.of(value.integer()) : OptionalLong.empty();
  }

  /** Returns what is known of an attempt and of those before it, the oldest first. */
  public Map<Attempt, Arrival> arrivalsUpTo(ReadTransaction tx, Attempt last) {
    byte[] all = key(ARRIVALS).string(last.id()).toBytes();
    byte[] end = ByteArrayUtil.join(key(last), new byte[1]);
    Map<Attempt, Arrival> found = new LinkedHashMap<>();
    for (KeyValue row : Awaiting.await(tx.getRange(new Range(all, end)).asList())) {
      long number = new TupleReader(row.getKey(), all.length).only(TupleReader::integer);
      found.put(new Attempt(last.id(), number), arrival(row.getValue()));
    }
    return found;
  }

  private static Arrival arrival(byte[] bytes) {
    TupleReader value = FORMAT.reader(bytes);
    Standing standing = standing(value.smallInteger());
    if (!value.hasNext() || value.isInteger()) {
      return Arrival.without(standing);
    }
    DatabaseName name = new DatabaseName(value.string());
    InstanceId instance = new InstanceId(value.string());
    DatabaseInstance life = new DatabaseInstance(name, instance, value.bytes(), Versionstamp.ZERO);
    long createdAtSeconds = value.integer();
    long images = value.integer();
    Optional<Sequence> last = Optional.empty();
    if (value.hasNext()) {
      if (value.isNil()) {
        value.nil();
      } else {
        last = Optional.of(Sequence.readFrom(value));
      }
    }
    Optional<Reached> reached =
        value.hasNext()
            ? Optional.of(new Reached(value.bytes(), value.string(), value.string()))
            : Optional.empty();
    value.end();
    return new Arrival(standing, Optional.of(life), createdAtSeconds, images, last, reached);
  }

  private static Standing standing(int number) {
    for (Standing standing : Standing.values()) {
      if (standing.number == number) {
        return standing;
      }
    }
    throw StoredFormat.newer("The standing of a database", number, Standing.values().length);
  }

  /** Keeps a name for a database that arrives. */
  public void reserve(Transaction tx, DatabaseInstance life) {
    TupleWriter value = new TupleWriter(40).integer(FORMAT.number());
    tx.set(nameKey(life.name()), value.string(life.instance().hex()).toBytes());
  }

  /** Whether a name is kept. */
  boolean isReserved(ReadTransaction tx, DatabaseName name) {
    return Awaiting.await(tx.get(nameKey(name))) != null;
  }

  /** Does not keep a name any longer for a database. */
  public void release(Transaction tx, DatabaseInstance life) {
    byte[] key = nameKey(life.name());
    byte[] value = Awaiting.await(tx.get(key));
    if (value != null && holder(value).equals(life.instance())) {
      tx.clear(key);
    }
  }

  private static InstanceId holder(byte[] value) {
    return new InstanceId(FORMAT.reader(value).only(TupleReader::string));
  }

  private byte[] nameKey(DatabaseName name) {
    return key(NAMES).string(name.text()).toBytes();
  }

  /**
   * Checks a row.
   *
   * @throws lectus.json.MalformedTupleException if this version does not know it
   */
  public void check(KeyValue row) {
    TupleReader key = new TupleReader(row.getKey(), RootSubspace.RELOCATIONS.key(root).length());
    int kind = key.smallInteger();
    switch (kind) {
      case DEPARTURES -> departure(row);
      case ARRIVALS -> {
        attempt(row.getKey());
        arrival(row.getValue());
      }
      case NAMES -> {
        key.string();
        holder(row.getValue());
        key.end();
      }
      default -> throw StoredFormat.newer("A relocation", kind, NAMES);
    }
  }
}
