module example.com/backend

go 1.19

require example.com/siwa v0.0.0

replace example.com/siwa => ../../../clients/go
