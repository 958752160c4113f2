package lectus.audit;

import com.apple.foundationdb.ReadTransaction;
import java.util.function.Function;

/** How an audit reads. */
interface Reading {
  /** Runs the body; all its reads are at one version. */
  <T> T read(Function<? super ReadTransaction, ? extends T> body);

  /**
   * Returns whether all reads see the same state, so that any difference between them is an error.
   */
  boolean isOneVersion();
}
