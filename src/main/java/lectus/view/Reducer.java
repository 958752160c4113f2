package lectus.view;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.view.ViewRows.Emitted;

/**
 * How the rows of a view are reduced. A reduction is bytes that begin with what they are:
 *
 * <pre>
 * 0 ‖ JSON                     the value
 * 1 ‖ (error, reason)          there is none; a query that needs it fails, or its row tells why
 * 2 ‖ bytes of the function    what becomes a value only at the end
 * </pre>
 */
abstract class Reducer {
  /** Of a view without a reduce function. */
  static final byte[] NOTHING = {};

  private static final String OVERFLOW = "reduce_overflow_error";
  private static final int VALUE = 0;
  private static final int FAILED = 1;
  private static final int OWN = 2;

  /**
   * A row as reduce functions see it.
   *
   * @param place with the id of its document
   */
  record ReducedRow(Emitted emitted, byte[] place) {}

  /** Returns the reduction of each list of rows. May wait for scripts. */
  abstract List<byte[]> reduce(List<List<ReducedRow>> all);

  /** Returns the reduction of each list of at least two reductions, none of which failed. */
  abstract List<byte[]> rereduce(List<List<byte[]>> all);

  /** Whether it may wait for scripts, as no transaction does. */
  boolean waits() {
    return false;
  }

  /** Whether reductions are made of anything. */
  boolean readsRows() {
    return true;
  }

  /** Returns the JSON of what is made only at the end. */
  byte[] finish(byte[] own) {
    throw new IllegalStateException("A reduction of " + own.length + " bytes has no value");
  }

  static Reducer none() {
    return new Reducer() {
      @Override
      boolean readsRows() {
        return false;
      }

      @Override
      List<byte[]> reduce(List<List<ReducedRow>> all) {
        return all.stream().map(rows -> NOTHING).toList();
      }

      @Override
      List<byte[]> rereduce(List<List<byte[]>> all) {
        return all.stream().map(rows -> NOTHING).toList();
      }
    };
  }

  /** As {@link #rereduce}, of any reductions: one alone stays, and a failure remains one. */
  static List<byte[]> combined(Reducer reducer, List<List<byte[]>> all) {
    List<byte[]> results = new ArrayList<>();
    List<List<byte[]>> open = new ArrayList<>();
    for (List<byte[]> reductions : all) {
      Optional<byte[]> failed = reductions.stream().filter(Reducer::hasFailed).findFirst();
      boolean isOpen = failed.isEmpty() && reductions.size() > 1;
      results.add(isOpen ? null : failed.orElseGet(() -> reductions.get(0)));
      if (isOpen) {
        open.add(reductions);
      }
    }
    if (!open.isEmpty()) {
      List<byte[]> made = reducer.rereduce(open);
      int next = 0;
      for (int i = 0; i < results.size(); i++) {
        if (results.get(i) == null) {
          results.set(i, made.get(next++));
        }
      }
    }
    return results;
  }

  private static boolean hasFailed(byte[] reduction) {
    return reduction.length > 0 && reduction[0] == FAILED;
  }

  static byte[] value(byte[] json) {
    return new TupleWriter(json.length + 1).octet(VALUE).raw(json).toBytes();
  }

  static byte[] value(String json) {
    return value(json.getBytes(StandardCharsets.UTF_8));
  }

  static byte[] own(byte[] bytes) {
    return new TupleWriter(bytes.length + 1).octet(OWN).raw(bytes).toBytes();
  }

  static byte[] failed(String error, String reason) {
    return new TupleWriter(64).octet(FAILED).string(error).string(reason).toBytes();
  }

  static byte[] overflow(String reason) {
    return failed(OVERFLOW, reason);
  }

  /** Returns a reduction, unless it is too large for a value of the store. */
  static byte[] bounded(byte[] reduction) {
    return reduction.length > ViewRows.MAX_VALUE_BYTES
        ? overflow("A reduction takes more than " + ViewRows.MAX_VALUE_BYTES + " bytes.")
        : reduction;
  }

  static byte[] rest(byte[] reduction) {
    return Arrays.copyOfRange(reduction, 1, reduction.length);
  }

  /**
   * Appends the members of a row that tell its reduction. As in CouchDB, one that is too long is an
   * error of its row.
   *
   * @throws LectusException it failed otherwise
   */
  final void append(byte[] reduction, JsonBuffer out) {
    if (hasFailed(reduction)) {
      TupleReader failure = new TupleReader(reduction, 1);
      String error = failure.string();
      String reason = failure.only(TupleReader::string);
      if (!error.equals(OVERFLOW)) {
        throw LectusException.badRequest(error, reason);
      }
      out.ascii("\"error\":").string(error).ascii(",\"reason\":").string(reason);
      return;
    }
    out.ascii("\"value\":");
    out.raw(reduction[0] == OWN ? finish(rest(reduction)) : rest(reduction));
  }
}
