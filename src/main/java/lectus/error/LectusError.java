package lectus.error;

import java.util.List;

/**
 * All errors of requests, as values. {@code error} and {@code reason} are the two members of
 * CouchDB's error body. The HTTP layer maps each variant to one status.
 */
public sealed interface LectusError {

  /** Returns the short machine-readable name, such as {@code not_found}. */
  String error();

  /** Returns a sentence for people. */
  String reason();

  /** 400. The request cannot be understood or breaks a rule. */
  record BadRequest(String error, String reason) implements LectusError {}

  /**
   * 400. What the request needs is being made. Whoever can wait repeats it; the reason is for those
   * who had to wait too long.
   */
  record NotYet(String error, String reason) implements LectusError {}

  /** 401. Nobody is logged in, or not with a right that the request needs. */
  record Unauthorized(String reason) implements LectusError {
    @Override
    public String error() {
      return "unauthorized";
    }
  }

  /** 403. A rule of the database forbids the write, or the user may not do this. */
  record Forbidden(String reason) implements LectusError {
    @Override
    public String error() {
      return "forbidden";
    }
  }

  /** 404. The database, document or revision is absent. */
  record NotFound(String reason) implements LectusError {
    @Override
    public String error() {
      return "not_found";
    }
  }

  /** 405. {@code allow} lists the resource's methods as the Allow header has them. */
  record MethodNotAllowed(String allow) implements LectusError {
    @Override
    public String error() {
      return "method_not_allowed";
    }

    @Override
    public String reason() {
      return "Only " + allow + " allowed";
    }
  }

  /** 408. The client was too slow to send its request. */
  record RequestTimeout(String reason) implements LectusError {
    @Override
    public String error() {
      return "request_timeout";
    }
  }

  /** 409. The edit's base is not a live leaf. */
  record Conflict() implements LectusError {
    @Override
    public String error() {
      return "conflict";
    }

    @Override
    public String reason() {
      return "Document update conflict.";
    }
  }

  /** 409. The document has not had the revision that an attachment is to be changed at. */
  record MissingRevision() implements LectusError {
    @Override
    public String error() {
      return "not_found";
    }

    @Override
    public String reason() {
      return "missing_rev";
    }
  }

  /**
   * 409. The request cannot be carried out in the current state; the reason says what would help.
   */
  record NotNow(String reason) implements LectusError {
    @Override
    public String error() {
      return "conflict";
    }
  }

  /** 410. It is no more, and will not be again. */
  record Gone(String reason) implements LectusError {
    @Override
    public String error() {
      return "gone";
    }
  }

  /** 412. */
  record PreconditionFailed(String error, String reason) implements LectusError {}

  /**
   * 412. Attachments of an edit are stubs that stand for nothing.
   *
   * @param names of all of these
   */
  record MissingStub(String docId, List<String> names) implements LectusError {
    @Override
    public String error() {
      return "missing_stub";
    }

    @Override
    public String reason() {
      return "Invalid attachment stub in " + docId + " for " + names.get(0);
    }
  }

  /** 413. A size limit is exceeded; the reason names the limit. */
  record TooLarge(String error, String reason) implements LectusError {}

  /** 414. */
  record UriTooLong(String reason) implements LectusError {
    @Override
    public String error() {
      return "too_long";
    }
  }

  /** 415. */
  record UnsupportedMediaType(String reason) implements LectusError {
    @Override
    public String error() {
      return "bad_content_type";
    }
  }

  /**
   * 416.
   *
   * @param length of what parts were asked of, in bytes
   */
  record RangeNotSatisfiable(long length) implements LectusError {
    @Override
    public String error() {
      return "requested_range_not_satisfiable";
    }

    @Override
    public String reason() {
      return "Requested range not satisfiable";
    }
  }

  /** 417. */
  record ExpectationFailed(String reason) implements LectusError {
    @Override
    public String error() {
      return "expectation_failed";
    }
  }

  /** 426. The resource is a WebSocket. */
  record UpgradeRequired(String reason) implements LectusError {
    @Override
    public String error() {
      return "upgrade_required";
    }
  }

  /** 429. The user asks for more than one user may; {@code retryAfterSeconds} is in the answer. */
  record TooManyRequests(String reason, int retryAfterSeconds) implements LectusError {
    @Override
    public String error() {
      return "too_many_requests";
    }
  }

  /** 500. A defect of the server or damaged data. */
  record Internal(String reason) implements LectusError {
    @Override
    public String error() {
      return "internal_server_error";
    }
  }

  /**
   * 500. A function of a design document threw something, does not compile, or takes too much time
   * or memory: the fault of who wrote it.
   */
  record FunctionFailed(String error, String reason) implements LectusError {}

  /** 501. Part of CouchDB's API that Lectus does not offer. */
  record NotImplemented(String reason) implements LectusError {
    @Override
    public String error() {
      return "not_implemented";
    }
  }

  /** 503. The request needs a service of CouchDB's that this server does not have. */
  record MissingService(String reason) implements LectusError {
    @Override
    public String error() {
      return "required index service unavailable";
    }
  }

  /** 507. The disk is too short of space for writes; reads continue. */
  record InsufficientStorage(String reason) implements LectusError {
    @Override
    public String error() {
      return "insufficient_storage";
    }
  }

  /** 503. The server is too busy or stopping; {@code retryAfterSeconds} goes into Retry-After. */
  record Unavailable(String reason, int retryAfterSeconds) implements LectusError {
    private static final int SOON_SECONDS = 1;

    /** Creates the error for a condition that passes soon. */
    public Unavailable(String reason) {
      this(reason, SOON_SECONDS);
    }

    @Override
    public String error() {
      return "service_unavailable";
    }
  }

  /**
   * 503. The store did not report whether a write was stored, and the server does not retry it. A
   * client that retries with the same revision gets a conflict if it was stored.
   */
  record InDoubt(String reason, int retryAfterSeconds) implements LectusError {
    @Override
    public String error() {
      return "service_unavailable";
    }
  }
}
