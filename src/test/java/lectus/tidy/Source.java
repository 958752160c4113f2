package lectus.tidy;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.SourcePositions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;

/** One parsed file of the tree; lines are counted from 1. */
record Source(Path path, CompilationUnitTree unit, SourcePositions positions) {
  /** The file's name without its ending: that of its one class, or package-info. */
  String name() {
    return path.getFileName().toString().replace(".java", "");
  }

  String packageName() {
    return unit.getPackageName().toString();
  }

  String qualifiedName() {
    return packageName() + "." + name();
  }

  /** The classes that do not lie in another one; none in a package-info. */
  List<ClassTree> classes() {
    return unit.getTypeDecls().stream()
        .filter(ClassTree.class::isInstance)
        .map(ClassTree.class::cast)
        .toList();
  }

  List<String> imports() {
    return unit.getImports().stream()
        .map(line -> line.getQualifiedIdentifier().toString())
        .toList();
  }

  long firstLine(Tree tree) {
    return unit.getLineMap().getLineNumber(positions.getStartPosition(unit, tree));
  }

  long lastLine(Tree tree) {
    return unit.getLineMap().getLineNumber(positions.getEndPosition(unit, tree));
  }

  /** A piece of the source as it is written. */
  String text(Tree tree) {
    try {
      int begin = (int) positions.getStartPosition(unit, tree);
      int end = (int) positions.getEndPosition(unit, tree);
      return begin < 0 || end < 0
          ? ""
          : unit.getSourceFile().getCharContent(true).subSequence(begin, end).toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public String toString() {
    return path.toString();
  }

  /** Where something stands, as compilers write it. */
  String at(Tree tree) {
    return path + ":" + firstLine(tree);
  }
}
