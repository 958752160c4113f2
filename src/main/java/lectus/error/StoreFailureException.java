package lectus.error;

import com.apple.foundationdb.FDBException;

/**
 * A failure of the embedded store with a sentence that was written for clients. The message of any
 * other failure is for the log alone: nobody knows what it gives away.
 */
public final class StoreFailureException extends FDBException {
  private final String told;

  /**
   * @param told names no file of the server
   */
  public StoreFailureException(String told, FoundationDbError error) {
    super(told, error.code());
    this.told = told;
  }

  public String told() {
    return told;
  }
}
