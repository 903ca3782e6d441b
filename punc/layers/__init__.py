"""The parts that neural models share: recurrent and convolutional layers, encoders, the CRF, inputs and losses."""
