extension WorkingSet {
    /// Divides a batch into working sets that are to be applied and saved one after the other, in the same
    /// transaction. Nearly always that is one.
    public static func groups(of commands: [AccountCommand]) -> [[AccountCommand]] {
        guard commands.contains(where: \.standsAlone) else { return [commands] }
        var groups: [[AccountCommand]] = []
        var shared: [AccountCommand] = []
        for command in commands {
            guard command.standsAlone else {
                shared.append(command)
                continue
            }
            if !shared.isEmpty { groups.append(shared) }
            groups.append([command])
            shared = []
        }
        return shared.isEmpty ? groups : groups + [shared]
    }
}
