import Foundation

/// The name by which this program was started, for commands that it prints.
enum StartedProgram {
    static var name: String {
        name(
            argument: CommandLine.arguments.first ?? "siwa",
            directory: FileManager.default.currentDirectoryPath)
    }

    /// Returns the name for a command line: a path below the current directory becomes relative, and a path
    /// with a space is quoted.
    static func name(argument: String, directory: String) -> String {
        let isBelow = directory != "/" && argument.hasPrefix(directory + "/")
        let path = isBelow ? String(argument.dropFirst(directory.count + 1)) : argument
        return path.contains(" ") ? "'\(path)'" : path
    }
}
