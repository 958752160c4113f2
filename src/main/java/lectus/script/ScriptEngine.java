package lectus.script;

import com.caoccao.javet.enums.JSRuntimeType;
import com.caoccao.javet.exceptions.BaseJavetScriptingException;
import com.caoccao.javet.exceptions.JavetException;
import com.caoccao.javet.exceptions.JavetScriptingError;
import com.caoccao.javet.interop.V8Host;
import com.caoccao.javet.interop.V8Runtime;
import com.caoccao.javet.interop.callback.IJavetDirectCallable.NoThisAndResult;
import com.caoccao.javet.interop.callback.JavetCallbackContext;
import com.caoccao.javet.interop.callback.JavetCallbackType;
import com.caoccao.javet.interop.loader.IJavetLibLoadingListener;
import com.caoccao.javet.interop.loader.JavetLibLoader;
import com.caoccao.javet.interop.options.V8RuntimeOptions;
import com.caoccao.javet.values.reference.V8ValueFunction;
import com.ibm.icu.text.Normalizer2;
import java.io.File;
import java.net.URL;
import java.nio.file.Path;
import java.util.Optional;
import lectus.metrics.PackedLibrary;
import org.mozilla.javascript.ClassShutter;
import org.mozilla.javascript.Context;
import org.mozilla.javascript.ContextFactory;
import org.mozilla.javascript.Function;
import org.mozilla.javascript.RhinoException;
import org.mozilla.javascript.ScriptableObject;

/** The realm of one design document: what has evaluated {@code runtime.js} for it. */
interface ScriptEngine extends AutoCloseable {
  /**
   * Gives a line to the runtime and returns its answer; empty if the call was stopped, or ran out
   * of memory. Then the realm is of no use any more.
   */
  Optional<String> call(String line);

  /** Ends the call that is running. Any thread may do so. */
  void stop();

  /** Returns the line and the column at which a text is no JavaScript; empty if it is. */
  Optional<Place> mistake(String source);

  @Override
  void close();

  /** Both from 1. */
  record Place(int line, int column) {}

  /** Makes engines of one kind. */
  interface Maker {
    ScriptEngine make(String runtime);

    /** Returns which engine it is, with its version. */
    String name();
  }

  /** V8, by Javet's native library. */
  final class V8 implements ScriptEngine {
    /** The folder of RocksDB's library, which the packages and the image set. */
    private static final String FOLDER_VARIABLE = "ROCKSDB_SHAREDLIB_DIR";

    /** In place of a file: each process unpacks the library for itself. */
    private static final String PACKED = "packed";

    private static final int HEADROOM_BYTES = 16 << 20;

    private final V8Runtime runtime;
    private final V8ValueFunction function;

    private V8(String text) {
      try {
        runtime = V8Host.getV8Instance().createV8Runtime();
        runtime.setNearHeapLimitCallback(this::nearLimit);
        function = function(text);
      } catch (JavetException e) {
        throw new IllegalStateException(e);
      }
    }

    /** The library has no tables of Unicode, so ICU's in Java make normal forms. */
    private V8ValueFunction function(String text) throws JavetException {
      try (V8ValueFunction made = runtime.getExecutor(text).execute();
          V8ValueFunction normalized =
              runtime.createV8ValueFunction(
                  new JavetCallbackContext(
                      "normalized",
                      JavetCallbackType.DirectCallNoThisAndResult,
                      (NoThisAndResult<RuntimeException>)
                          parts ->
                              runtime.createV8ValueString(
                                  normalized(parts[0].toString(), parts[1].toString()))))) {
        return made.call(null, runtime.getGlobalObject(), false, normalized);
      }
    }

    private static String normalized(String text, String form) {
      Normalizer2 normalizer =
          switch (form) {
            case "NFC" -> Normalizer2.getNFCInstance();
            case "NFD" -> Normalizer2.getNFDInstance();
            case "NFKC" -> Normalizer2.getNFKCInstance();
            default -> Normalizer2.getNFKDInstance();
          };
      return normalizer.normalize(text);
    }

    /**
     * Returns the library's file, or {@link #PACKED} if nothing can be kept here; empty if there is
     * none for this platform.
     */
    static Optional<String> library() {
      return packed()
          .map(
              packed ->
                  unpacked(packed, Optional.ofNullable(System.getenv(FOLDER_VARIABLE)))
                      // The image's folder may not be written.
                      .or(() -> unpacked(packed, Optional.empty()))
                      .map(Path::toString)
                      .orElse(PACKED));
    }

    private static Optional<Path> unpacked(URL packed, Optional<String> folder) {
      String name = Path.of(packed.getPath()).getFileName().toString();
      return PackedLibrary.unpacked(Optional.of(packed), folder, "v8", name);
    }

    /** Returns where the library is packed; empty if there is none for this platform. */
    static Optional<URL> packed() {
      try {
        return Optional.ofNullable(
            V8Host.class.getResource(new JavetLibLoader(JSRuntimeType.V8).getResourceFileName()));
      } catch (JavetException unknownPlatform) {
        return Optional.empty();
      }
    }

    static String version() {
      return "V8 " + JSRuntimeType.V8.getVersion();
    }

    private long nearLimit(long current, long initial) {
      runtime.terminateExecution();
      return current + HEADROOM_BYTES;
    }

    /**
     * Loads the library.
     *
     * @param library its file, or {@link #PACKED}
     * @param heapMegabytes of one realm
     * @throws LinkageError it does not run here
     */
    static Maker load(String library, int heapMegabytes) {
      if (!library.equals(PACKED)) {
        JavetLibLoader.setLibLoadingListener(new Unpacked(new File(library)));
      }
      V8RuntimeOptions.V8_FLAGS.setMaxHeapSize(heapMegabytes).setCustomFlags("--single-threaded");
      if (!V8Host.getV8Instance().loadLibrary()) {
        throw new LinkageError(
            "V8's library does not load", V8Host.getV8Instance().getLastException());
      }
      return new Maker() {
        @Override
        public ScriptEngine make(String runtime) {
          return new V8(runtime);
        }

        @Override
        public String name() {
          return version();
        }
      };
    }

    @Override
    public Optional<String> call(String line) {
      try {
        return Optional.of(function.callString(null, line));
      } catch (JavetException stopped) {
        return Optional.empty();
      }
    }

    @Override
    public void stop() {
      runtime.terminateExecution();
    }

    @Override
    public Optional<Place> mistake(String source) {
      try {
        runtime.getExecutor(source).compileV8ScriptVoid();
        return Optional.empty();
      } catch (BaseJavetScriptingException e) {
        JavetScriptingError error = e.getScriptingError();
        return Optional.of(new Place(error.getLineNumber(), error.getStartColumn() + 1));
      } catch (JavetException e) {
        return Optional.empty();
      }
    }

    @Override
    public void close() {
      try {
        function.close(true);
        runtime.close(true);
      } catch (JavetException e) {
        throw new IllegalStateException(e);
      }
    }

    /** Javet would unpack the library at each start. */
    private record Unpacked(File library) implements IJavetLibLoadingListener {
      @Override
      public File getLibPath(JSRuntimeType type) {
        return library.getParentFile();
      }

      @Override
      public boolean isDeploy(JSRuntimeType type) {
        return false;
      }
    }
  }

  /** Rhino, which is plain Java. */
  final class Rhino implements ScriptEngine {
    /** Instructions between two looks at whether the call was stopped. */
    private static final int LOOK = 10_000;

    private static final int DEEPEST = 5_000;

    private final Interrupted factory = new Interrupted();
    private final ScriptableObject globals;
    private final Function function;

    private Rhino(String text) {
      Context context = factory.enterContext();
      try {
        globals = context.initSafeStandardObjects(null, true);
        function =
            (Function)
                context.evaluateString(globals, text + "(this, true)", "runtime.js", 1, null);
      } finally {
        Context.exit();
      }
    }

    static String version() {
      return new ContextFactory().call(Context::getImplementationVersion);
    }

    static Maker load() {
      return new Maker() {
        @Override
        public ScriptEngine make(String runtime) {
          return new Rhino(runtime);
        }

        @Override
        public String name() {
          return version();
        }
      };
    }

    @Override
    public Optional<String> call(String line) {
      Context context = factory.enterContext();
      try {
        return Optional.of(
            Context.toString(function.call(context, globals, globals, new Object[] {line})));
      } catch (Stopped | RhinoException stopped) {
        return Optional.empty();
      } finally {
        Context.exit();
      }
    }

    @Override
    public void stop() {
      factory.isStopped = true;
    }

    @Override
    public Optional<Place> mistake(String source) {
      Context context = factory.enterContext();
      try {
        context.compileString(source, "function", 1, null);
        return Optional.empty();
      } catch (RhinoException e) {
        return Optional.of(new Place(e.lineNumber(), Math.max(1, e.columnNumber())));
      } finally {
        Context.exit();
      }
    }

    @Override
    public void close() {}

    private static final class Stopped extends Error {
      private static final long serialVersionUID = 1;

      Stopped() {
        super("The call was stopped", null, false, false);
      }
    }

    /** No class of Java is visible, and a call ends when it is told. */
    private static final class Interrupted extends ContextFactory {
      private static final ClassShutter NOTHING = name -> false;
      private volatile boolean isStopped;

      @Override
      protected Context makeContext() {
        Context context = super.makeContext();
        context.setLanguageVersion(Context.VERSION_ECMASCRIPT);
        // It can be stopped anywhere, and recursion takes none of Java's stack.
        context.setInterpretedMode(true);
        context.setMaximumInterpreterStackDepth(DEEPEST);
        context.setInstructionObserverThreshold(LOOK);
        context.setClassShutter(NOTHING);
        return context;
      }

      @Override
      protected void observeInstructionCount(Context context, int count) {
        if (isStopped) {
          throw new Stopped();
        }
      }
    }
  }
}
