import TestSupport
import Testing

@Suite struct ScenarioTests {
    @Test(arguments: try FixtureFolder("scenarios").files(of: Scenario.self))
    func `goes as its file says, in memory`(file: FixtureFile<Scenario>) async throws {
        try await play(file, in: MemoryScenarioStorage())
    }

    @Test(arguments: try FixtureFolder("scenarios").files(of: Scenario.self))
    func `goes as its file says, on SQLite`(file: FixtureFile<Scenario>) async throws {
        try await play(file, in: try SQLiteScenarioStorage())
    }

    private func play(_ file: FixtureFile<Scenario>, in storage: some ScenarioStorage) async throws {
        var runner = try ScenarioRunner(file.content, storage: storage)
        try await runner.run()
        #expect(runner.differences.isEmpty, "\(file.content.summary)")
    }
}
