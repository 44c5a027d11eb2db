package import Encodings
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Abilities of a terminal.
package enum TerminalStyle {
    /// Returns the number of columns of a descriptor's terminal; 80 if unknown.
    package static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// The layout of standard output: plain unless it is a terminal.
    package static var layout: TextLayout {
        guard isatty(STDOUT_FILENO) == 1 else { return .plain }
        return TextLayout(
            columns: columns(of: STDOUT_FILENO), hasColors: hasColors(ProcessInfo.processInfo.environment))
    }

    /// Returns `false` if the environment has NO_COLOR (https://no-color.org) or the terminal has no colors.
    static func hasColors(_ environment: [String: String]) -> Bool {
        environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
            && environment["TERM"] != nil
    }

    /// Returns `true` if a descriptor writes to a file, as after `>`: a file
    /// has a position, a terminal or a pipe has no position. (Only a debug
    /// build finds `stat` as a type, because a module of NIO declares it too.)
    package static func isFile(_ descriptor: Int32) -> Bool {
        lseek(descriptor, 0, SEEK_CUR) >= 0
    }
}
