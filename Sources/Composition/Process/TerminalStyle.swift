package import Encodings
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Functions that detect a terminal's features.
package enum TerminalStyle {
    /// Returns the width, in columns, of the terminal at a descriptor; 80 if unknown.
    package static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// The layout for standard output. It is plain unless standard output is a terminal.
    package static var layout: TextLayout {
        guard isatty(STDOUT_FILENO) == 1 else { return .plain }
        return TextLayout(
            columns: columns(of: STDOUT_FILENO), hasColors: hasColors(ProcessInfo.processInfo.environment))
    }

    /// Returns false if the environment contains NO_COLOR (https://no-color.org) or the terminal does not
    /// support colors.
    static func hasColors(_ environment: [String: String]) -> Bool {
        environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
            && environment["TERM"] != nil
    }

    /// Returns true if a descriptor writes to a file, for example after `>`. A file has a position, but a
    /// terminal or a pipe does not. (`stat` is visible only as a type in debug builds, because a NIO module
    /// also declares it.)
    package static func isFile(_ descriptor: Int32) -> Bool {
        lseek(descriptor, 0, SEEK_CUR) >= 0
    }
}
