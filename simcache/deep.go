package simcache

func newDeep(c Config) engine { return nil }
