package lectus.replication;

import java.net.UnknownHostException;
import java.util.concurrent.CompletionException;
import lectus.error.LectusException;
import lectus.http.ErrorStatus;
import lectus.http.client.CouchClient.RemoteFailure;

/** A replication cannot go on as it is. Its reason has no password. */
public final class ReplicationFailure extends RuntimeException {
  private static final long serialVersionUID = 1;

  static final int UNAUTHORIZED = 401;
  static final int FORBIDDEN = 403;
  static final int NOT_FOUND = 404;
  static final int CONFLICT = 409;
  private static final int PASSING = 500;

  private final int status;
  private final String error;

  /**
   * @param status with which CouchDB answers; of 500 and above, another attempt may help
   */
  public ReplicationFailure(int status, String error, String reason) {
    super(reason);
    this.status = status;
    this.error = error;
  }

  /** Returns one after which another attempt may help. */
  static ReplicationFailure passing(String error, String reason) {
    return new ReplicationFailure(PASSING, error, reason);
  }

  public boolean mayPass() {
    return status >= PASSING;
  }

  public int status() {
    return status;
  }

  public String error() {
    return error;
  }

  public String reason() {
    return getMessage();
  }

  public static ReplicationFailure of(Throwable failure) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (cause instanceof ReplicationFailure known) {
      return known;
    }
    if (cause instanceof LectusException known) {
      return new ReplicationFailure(
          ErrorStatus.of(known.error()), known.error().error(), known.error().reason());
    }
    if (cause instanceof RemoteFailure remote) {
      boolean isUnknown = remote.getCause() instanceof UnknownHostException;
      return passing(isUnknown ? "nxdomain" : "http_request_failed", remote.getMessage());
    }
    return passing(
        "replication_failed", cause.getMessage() == null ? cause.toString() : cause.getMessage());
  }
}
