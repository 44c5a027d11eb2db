package import ArgumentParser
import Encodings

/// A misspelled subcommand, with a suggestion for the intended subcommand.
package struct UnknownSubcommand: Equatable, CustomStringConvertible {
    /// EX_USAGE in sysexits.h, as for other argument mistakes.
    fileprivate static let exitStatus = ExitCode(64)

    private let command: String
    private let name: String
    private let nearest: String?
    /// False if the command has no subcommands, as in `siwa help serve x`.
    private let hasCommands: Bool

    /// - Returns: `nil` if every subcommand in the arguments exists.
    package init?(in arguments: [String], of root: any ParsableCommand.Type) {
        var (current, path) = (root, [root._commandName])
        // After `help`, the parser itself ignores unknown names.
        let isHelp = arguments.first == "help"
        for argument in arguments.dropFirst(isHelp ? 1 : 0) {
            let known = current.configuration.subcommands
            guard isHelp || !known.isEmpty, !argument.hasPrefix("-"), argument != "help" else { return nil }
            if let next = known.first(where: { $0._commandName == argument }) {
                path.append(argument)
                current = next
                continue
            }
            command = path.joined(separator: " ")
            name = argument
            hasCommands = !known.isEmpty
            // A name that differs in more than a third of its characters is not a spelling mistake.
            nearest = NearestName.of(argument, among: known.map { $0._commandName }).flatMap { candidate in
                NearestName.distance(argument, candidate) <= max(2, candidate.count / 3) ? candidate : nil
            }
            return
        }
        return nil
    }

    package var description: String {
        let guess = nearest.map { "Did you mean \($0)? " } ?? ""
        let help = hasCommands ? "\(command) --help lists them." : "\(command) --help describes it."
        return "\(command) has no command \"\(name.forTerminal(limit: 40))\". \(guess)\(help)"
    }
}

extension AsyncParsableCommand {
    /// Runs the command named in this process's arguments. Exits the process if the command is unknown.
    package static func runNamedCommand() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if let mistake = UnknownSubcommand(in: arguments, of: Self.self) {
            ErrorMessage.write(mistake.description)
            exit(withError: UnknownSubcommand.exitStatus)
        }
        await main(arguments)
    }
}
